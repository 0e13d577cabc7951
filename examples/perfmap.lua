-- Names the machine code of LuaJIT for tally and perf: luajit -lperfmap SCRIPT writes /tmp/perf-PID.map.
--
--     LUA_PATH='/usr/share/doc/tally/examples/?.lua;;' tally profile --backend engine -- luajit -lperfmap script.lua
--
-- Each trace that the compiler makes is one line: its address, its size, and the line of Lua where it begins.
local ffi, util = require("ffi"), require("jit.util")
ffi.cdef("int getpid(void);")

local map = assert(io.open(("/tmp/perf-%d.map"):format(ffi.C.getpid()), "w"))
map:setvbuf("line")
local places = {}

jit.attach(function(what, trace, func, pc)
  if what == "start" then
    local info = util.funcinfo(func, pc)
    places[trace] = info.loc or info.source or "?"
  elseif what == "stop" then
    local code, address = util.tracemc(trace)
    if code then
      map:write(("%x %x lua: %s, trace %d\n"):format(address % 2 ^ 47, #code, places[trace] or "?", trace))
    end
  end
end, "trace")
