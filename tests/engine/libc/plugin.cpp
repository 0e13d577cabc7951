// A library that plugins.cpp loads.
extern "C" int value();
extern "C" int value() { return VALUE; }
