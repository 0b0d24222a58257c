"""Real outputs of `weir trace --json` against docs/schema/result.schema.json, and the sums that a
schema cannot say: waits and causes add up to the wall time, the control parts to each cause.

The schema is checked with the Python package jsonschema where it is installed, and always with a
small validator of our own that knows the keywords that the schema uses (and fails on others)."""
import glob
import json
import os
import re
import unittest

import common

SCHEMA_FILE = os.path.join(common.SOURCE, "docs", "schema", "result.schema.json")
TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None)}
SOME_SETS = ("sst_sleep", "hta", "kineto_tb", "vllm", "sglang")


def load_schema():
    with open(SCHEMA_FILE, encoding="utf-8") as source:
        return json.load(source)


def has_type(value, name):
    if name == "integer":
        return isinstance(value, int) and not isinstance(value, bool)
    if name == "number":
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    return isinstance(value, TYPES[name])


class Validator:
    """The subset of JSON Schema 2020-12 that result.schema.json uses."""

    ANNOTATIONS = {"$schema", "$id", "$defs", "title", "description"}

    def __init__(self, schema):
        self.root = schema

    def check(self, value, schema, place="$"):
        """Yields a sentence for each rule that value breaks."""
        for keyword, rule in schema.items():
            if keyword not in self.ANNOTATIONS:
                name = "rule_" + keyword.replace("$", "").replace("-", "_")
                yield from getattr(self, name)(value, rule, place, schema)

    def rule_ref(self, value, rule, place, _):
        yield from self.check(value, self.root["$defs"][rule.removeprefix("#/$defs/")], place)

    def rule_type(self, value, rule, place, _):
        if not any(has_type(value, t) for t in ([rule] if isinstance(rule, str) else rule)):
            yield f"{place}: {value!r} is no {rule}"

    def rule_const(self, value, rule, place, _):
        if value != rule:
            yield f"{place}: {value!r} is not {rule!r}"

    def rule_enum(self, value, rule, place, _):
        if value not in rule:
            yield f"{place}: {value!r} is none of {rule}"

    def rule_pattern(self, value, rule, place, _):
        if isinstance(value, str) and not re.search(rule, value):
            yield f"{place}: {value!r} does not match {rule}"

    def rule_minimum(self, value, rule, place, _):
        if has_type(value, "number") and value < rule:
            yield f"{place}: {value} is less than {rule}"

    def rule_maximum(self, value, rule, place, _):
        if has_type(value, "number") and value > rule:
            yield f"{place}: {value} is more than {rule}"

    def rule_exclusiveMinimum(self, value, rule, place, _):
        if has_type(value, "number") and value <= rule:
            yield f"{place}: {value} is not more than {rule}"

    def rule_anyOf(self, value, rule, place, _):
        if all(any(True for _ in self.check(value, choice, place)) for choice in rule):
            yield f"{place}: {value!r} fits no alternative"

    def rule_required(self, value, rule, place, _):
        for key in rule:
            if isinstance(value, dict) and key not in value:
                yield f"{place}: no key {key}"

    def rule_properties(self, value, rule, place, _):
        for key, schema in rule.items():
            if isinstance(value, dict) and key in value:
                yield from self.check(value[key], schema, f"{place}.{key}")

    def rule_propertyNames(self, value, rule, place, _):
        for key in value if isinstance(value, dict) else ():
            yield from self.check(key, rule, f"{place} (key)")

    def rule_additionalProperties(self, value, rule, place, schema):
        for key in value if isinstance(value, dict) else ():
            if key in schema.get("properties", {}):
                continue
            if rule is False:
                yield f"{place}: unexpected key {key}"
            else:
                yield from self.check(value[key], rule, f"{place}.{key}")

    def rule_items(self, value, rule, place, _):
        for i, item in enumerate(value if isinstance(value, list) else ()):
            yield from self.check(item, rule, f"{place}[{i}]")


def outputs():
    """(name, object) of the bundled example and of some real sets."""
    example = sorted(glob.glob(os.path.join(common.SOURCE, "examples", "*", "*.json.gz")))
    if example:
        yield "example", common.trace(*example)
    if not os.path.isdir(common.TRACES):
        return
    for part in SOME_SETS:
        paths = [p for p in common.kineto_files() if part in p]
        if part == "sst_sleep":
            yield part, common.trace(*common.torchrec(part))
        elif paths:
            run = common.weir("trace", "--json", os.path.join(common.TRACES, min(paths)))
            if run.code == 0:
                yield paths[0], run.json


def accounts(result):
    yield "total", result["total"]
    for kind in ("devices", "steps", "nodes"):
        for i, row in enumerate(result[kind]):
            yield f"{kind}[{i}]", row


class Schema(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.schema = load_schema()
        cls.results = list(outputs())

    def test_there_is_something_to_check(self):
        self.assertTrue(self.results)

    def test_outputs_follow_the_schema(self):
        for name, result in self.results:
            with self.subTest(name):
                self.assertEqual(list(Validator(self.schema).check(result, self.schema))[:5], [])

    def test_outputs_follow_the_schema_says_jsonschema(self):
        try:
            from jsonschema import Draft202012Validator
        except ImportError:
            self.skipTest("no Python package jsonschema")
        Draft202012Validator.check_schema(self.schema)
        for name, result in self.results:
            with self.subTest(name):
                Draft202012Validator(self.schema).validate(result)

    def test_keys_come_in_the_order_of_the_schema(self):
        order = list(self.schema["properties"])
        for name, result in self.results:
            with self.subTest(name):
                self.assertEqual(list(result), [k for k in order if k in result])

    def test_waits_and_causes_add_up_to_the_wall_time(self):
        for name, result in self.results:
            for place, row in accounts(result):
                with self.subTest(name, place=place):
                    self.assertEqual(sum(row["waits"].values()), row["wall_ns"])
                    self.assertEqual(sum(row["causes"].values()), row["wall_ns"])
                    for wait, ns in row["waits"].items():
                        parts = [v for k, v in row["causes"].items() if k.startswith(wait + ".")]
                        self.assertEqual(sum(parts), ns)

    def test_control_parts_add_up_to_the_causes(self):
        for name, result in self.results:
            control = result["total"]["control"]
            for cause, ns in result["total"]["causes"].items():
                with self.subTest(name, cause=cause):
                    parts = ("planned", "steady", "erratic", "unknown")
                    self.assertEqual(sum(control[p].get(cause, 0) for p in parts), ns)

    def test_devices_add_up_to_the_total(self):
        for name, result in self.results:
            with self.subTest(name):
                wall = sum(d["wall_ns"] * d["multiplicity"] for d in result["devices"])
                self.assertEqual(wall, result["total"]["wall_ns"])

    def test_the_validator_finds_what_is_wrong(self):
        broken = json.loads(json.dumps(self.results[0][1]))
        broken["total"]["causes"]["compute.magic"] = 1
        broken["window"]["steps"] = -1
        del broken["clock"]["hosts"]
        broken["verdict"]["wait"] = "patience"
        found = list(Validator(self.schema).check(broken, self.schema))
        self.assertEqual(len(found), 4, found)

    def test_causes_are_those_of_the_code(self):
        with open(os.path.join(common.SOURCE, "src", "timeline", "waits.h"),
                  encoding="utf-8") as source:
            rows = re.findall(r'X\(\w+, (\w+), "(\w+)"', source.read())
        self.assertEqual([f"{wait.lower()}.{cause}" for wait, cause in rows],
                         self.schema["$defs"]["cause"]["enum"])


if __name__ == "__main__":
    common.main(needs_data=False)
