# weir fabric rail-only-all-to-all.yaml --sweep [...] --sweep traffic.phases.0.algorithm=direct,rails
# --json | jq -rf penalty.jq: what rails without spines add to the all-to-all of any to any.
def ms: "\(. * 1e5 | round / 100) ms";
def sign: . * 1000 | round / 10 | if . > 0 then "+\(.) %" elif . < 0 then "\(.) %" else "the same" end;
.sweep.points
| range(0; length; 2) as $i
| .[$i].candidates[0].step_s as $any
| .[$i].candidates[1].step_s as $meanwhile
| .[$i + 1].candidates[1].step_s as $first
| (.[$i].values[0] | if . == "direct" then "" else "domains of \(.): " end)
  + "any to any \($any | ms); rail-only, forwarded first \($first | ms), \($first / $any - 1 | sign); "
  + "forwarded meanwhile \($meanwhile | ms), \($meanwhile / $any - 1 | sign)"
