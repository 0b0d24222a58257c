# weir fabric SCENARIO --json | jq -rf compare.jq: each candidate beside the first.
# "network" is the bill without NICs: switches, modules, fibre, optical switches. "worth": steps a
# second for a dollar of the whole bill.
def network(key): [.bill[] | select(.item != "nic")[key]] | if any(. == null) then null else add end;
def rounded: . * 100 | round / 100;
def sign: . * 1000 | round / 10 | if . > 0 then "+\(.) %" elif . < 0 then "\(.) %" else "the same" end;
def beside(first; own): if first and own then own / first - 1 | sign else "?" end;
def part(first; own): beside(first; own) + (if first and own and own < first then " (1/\(first / own | . * 10 | round / 10))" else "" end);
.fabric.candidates
| .[0] as $first
| ($first | network("usd")) as $usd
| ($first | network("watts")) as $watts
| .[]
| "\(.name): " + if .refused then "refused" else [
    "step \(.step_s * 1e5 | round / 100) ms",
    if .name == $first.name then "\(.switches) switches, \(.modules.pluggable) modules" else
      "step \(beside($first.step_s; .step_s))",
      "network \(part($usd; network("usd"))) in price, \(part($watts; network("watts"))) in power",
      "worth x\($first.usd * $first.step_s / (.usd * .step_s) | rounded)",
      "\(.switches) switches, \(.modules.pluggable) modules"
    end,
    "\(.conversions_per_byte | rounded) conversions a byte"] | join("; ") end
