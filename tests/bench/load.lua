-- Each thread has one connection and posts the lines of its own file, one after the other: the next when the answer
-- to the last is there, so that the moves of one game come in their order.
local threads = {}

function setup(thread)
   thread:set("id", #threads)
   table.insert(threads, thread)
end

function init(args)
   paths, at, bad = {}, 0, 0
   for line in io.lines(args[1] .. "/" .. id) do
      paths[#paths + 1] = line
   end
   wrk.method = "POST"
   wrk.body = "press=yes"
   wrk.headers["Content-Type"] = "application/x-www-form-urlencoded"
end

function request()
   -- wrk asks for the first request twice, so the place moves on in the answer.
   return wrk.format(nil, paths[math.min(at + 1, #paths)])
end

function response(status)
   at = at + 1
   if status ~= 303 then
      bad = bad + 1
   end
end

function done(summary, latency)
   local sent, bad = {}, 0
   for i, thread in ipairs(threads) do
      sent[i] = thread:get("at")
      bad = bad + thread:get("bad")
   end
   local e = summary.errors
   io.write(string.format(
      '{"seconds": %f, "p50": %d, "p99": %d, "bad": %d, "sent": [%s]}\n',
      summary.duration / 1e6, latency:percentile(50), latency:percentile(99),
      bad + e.connect + e.read + e.write + e.timeout, table.concat(sent, ", ")))
end
