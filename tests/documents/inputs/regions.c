cp "$ROOT/examples/regions.c" .
