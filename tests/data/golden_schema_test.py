"""JSON among the golden outputs against the schemas in docs/schema/, and `weir presets --json` whole.

A result that compares networks must also say nothing else than its parts: waits of each candidate
add up to its wall time, the parts of its exposed communication to the whole, its bill to its price.
"""
import glob
import json
import os
import unittest

import common
from schema_test import Validator

SCHEMAS = os.path.join(common.SOURCE, "docs", "schema")


def load(path):
    with open(path, encoding="utf-8") as source:
        return json.load(source)


def schema_of(result):
    return load(os.path.join(SCHEMAS, "presets.schema.json" if result["command"] == "presets"
                             else "result.schema.json"))


def golden_results():
    """(case, object) of each golden output that is one JSON object of Weir."""
    for path in sorted(glob.glob(os.path.join(common.SOURCE, "tests", "golden", "*", "out.exact"))):
        with open(path, encoding="utf-8") as source:
            text = source.read()
        if text.startswith('{\n "weir"'):
            yield os.path.basename(os.path.dirname(path)), json.loads(text)


class GoldenSchema(unittest.TestCase):
    def setUp(self):
        self.results = list(golden_results())

    def test_there_is_something_to_check(self):
        self.assertTrue(self.results)

    def test_golden_json_follows_its_schema(self):
        for case, result in self.results:
            with self.subTest(case):
                schema = schema_of(result)
                self.assertEqual(list(Validator(schema).check(result, schema))[:5], [])

    def test_all_presets_follow_the_schema(self):
        result = common.weir("presets", "--json").json
        schema = schema_of(result)
        self.assertEqual(list(Validator(schema).check(result, schema))[:5], [])
        self.assertGreater(len(result["presets"]), 100)

    def test_candidates_add_up(self):
        for case, result in self.results:
            for row in result.get("fabric", {}).get("candidates", ()):
                with self.subTest(case, candidate=row["name"]):
                    self.assertEqual(sum(row["waits"].values()), row["wall_ns"])
                    self.assertEqual(sum(row["exposed_parts"].values()),
                                     row["exposed_communication_ns"])
                    if row["usd"] is not None:
                        usd = sum(item["usd"] or 0 for item in row["bill"])
                        self.assertAlmostEqual(usd, row["usd"], delta=1e-6 * row["usd"])


if __name__ == "__main__":
    common.main(needs_data=False)
