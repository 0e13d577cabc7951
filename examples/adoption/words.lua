-- The ten words that a file holds most often.
local counts, words = {}, {}
for line in io.lines(arg[1]) do
  for word in line:gsub("<[^>]*>", ""):lower():gmatch("%a+") do counts[word] = (counts[word] or 0) + 1 end
end
for word in pairs(counts) do words[#words + 1] = word end
table.sort(words, function(a, b) return counts[a] > counts[b] or counts[a] == counts[b] and a < b end)
for i = 1, 10 do print(counts[words[i]], words[i]) end
