"""`weir trace --perfetto FILE`: decodes the protobuf with a reader of its own (field numbers of the
.proto files in github.com/google/perfetto) and checks what a viewer relies on: slices nest on each
track, nothing stays open, the lanes of the four waits have no gap and cover the device's ledger,
names are interned before they are used, arrows join two slices. Where protoc is installed, it must
be able to read the file too."""
import collections
import glob
import os
import shutil
import subprocess
import tempfile
import unittest

import common

BEGIN, END, INSTANT = 1, 2, 3
WAITS_LANE = "the four waits"
HOUR_NS = 3_600_000_000_000


def fields(data):
    """(number, value) of each field: int for varint and fixed64, bytes for length-delimited."""
    at = 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    while at < len(data):
        tag = varint()
        if tag & 7 == 0:
            yield tag >> 3, varint()
        elif tag & 7 == 1:
            yield tag >> 3, int.from_bytes(data[at:at + 8], "little")
            at += 8
        elif tag & 7 == 2:
            length = varint()
            if at + length > len(data):
                raise ValueError("a message reaches beyond its parent")
            yield tag >> 3, data[at:at + length]
            at += length
        else:
            raise ValueError(f"wire type {tag & 7}")


def message(data):
    out = collections.defaultdict(list)
    for number, value in fields(data):
        out[number].append(value)
    return out


Event = collections.namedtuple("Event", "time kind track name category flows arguments")


class Trace:
    def __init__(self, path):
        with open(path, "rb") as source:
            self.data = source.read()
        self.tracks, self.events, self.clocks = {}, [], {}
        self.interned = collections.defaultdict(dict)  # by field: iid -> text
        for number, packet in fields(self.data):
            assert number == 1, number
            self.read_packet(message(packet))
        self.by_track = collections.defaultdict(list)
        for event in self.events:
            self.by_track[event.track].append(event)

    def read_packet(self, packet):
        assert packet[10] == [1], "one packet sequence"
        for data in packet[12]:
            for field, entry in fields(data):
                entry = message(entry)
                self.interned[field][entry[1][0]] = entry[2][0].decode("utf-8")
        for data in packet[6]:
            for clock in message(data)[1]:
                self.clocks[message(clock)[1][0]] = message(clock)[2][0]
        for data in packet[60]:
            track = message(data)
            self.tracks[track[1][0]] = {
                "name": track[2][0].decode("utf-8") if track[2] else "",
                "parent": track[5][0] if track[5] else 0,
                "pid": message(track[3][0])[1][0] if track[3] else None}
        for data in packet[11]:
            self.read_event(packet[8][0], message(data))

    def read_event(self, time, event):
        assert event[11][0] in self.tracks, "a track is described before its events"
        kind = event[9][0]
        name = category = None
        if kind != END:
            name = event[23][0].decode("utf-8") if event[23] else self.interned[2][event[10][0]]
            category = self.interned[1][event[3][0]]
        arguments = {}
        for data in event[4]:
            argument = message(data)
            text = self.interned[29][argument[17][0]] if argument[17] else None
            value = argument[6][0].decode("utf-8") if argument[6] else text
            arguments[self.interned[3][argument[1][0]]] = argument[4][0] if argument[4] else value
        self.events.append(Event(time, kind, event[11][0], name, category, event[47], arguments))

    def lanes(self, name):
        return [uuid for uuid, track in self.tracks.items() if track["name"] == name]

    def slices(self, uuid):
        """(begin, end, event) of a track that does not nest."""
        events = self.by_track[uuid]
        return [(b.time, e.time, b) for b, e in zip(events[::2], events[1::2])]


def write(paths, *options):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "out.pftrace")
        result = common.trace(*paths, extra=("--perfetto", path, *options))
        return result, Trace(path)


def example():
    return sorted(glob.glob(os.path.join(common.SOURCE, "examples", "*", "*.json.gz")))


class Perfetto(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        sets = [("example", example())]
        if os.path.isdir(common.TRACES):
            sets.append(("sleep", common.torchrec("sst_sleep")))
        cls.runs = {}
        for name, paths in sets:
            if paths:
                cls.runs[name] = write(paths)
                cls.runs[name + ", all"] = write(paths, "--perfetto-all")

    def each(self):
        self.assertTrue(self.runs)
        for name, (result, trace) in self.runs.items():
            with self.subTest(name):
                yield result, trace

    def test_slices_nest_and_end(self):
        for _, trace in self.each():
            for uuid, events in trace.by_track.items():
                opened = []
                # A viewer sorts by time and keeps the order of the file for equal times.
                for event in sorted(events, key=lambda e: e.time):
                    if event.kind == BEGIN:
                        opened.append(event)
                    elif event.kind == END:
                        self.assertTrue(opened, trace.tracks[uuid]["name"])
                        opened.pop()
                self.assertEqual(opened, [], trace.tracks[uuid]["name"])
                self.assertEqual([e.time for e in events], sorted(e.time for e in events))

    def test_the_waits_have_no_gap(self):
        for result, trace in self.each():
            lanes = trace.lanes(WAITS_LANE)
            self.assertEqual(len(lanes), result["window"]["devices"])
            for uuid in lanes:
                slices = trace.slices(uuid)
                self.assertTrue(slices)
                for before, after in zip(slices, slices[1:]):
                    self.assertEqual(before[1], after[0])

    def test_the_waits_of_everything_are_those_of_the_ledger(self):
        for result, trace in self.each():
            found = collections.Counter()
            for uuid in trace.lanes(WAITS_LANE):
                for begin, end, event in trace.slices(uuid):
                    found[event.name] += end - begin
                    self.assertTrue(event.name.startswith(event.category + "."))
            if found.total() == result["total"]["wall_ns"]:
                self.assertEqual(dict(found), result["total"]["causes"])
            else:  # one step only
                self.assertLess(found.total(), result["total"]["wall_ns"])

    def test_all_covers_the_window(self):
        for name, (result, trace) in self.runs.items():
            if not name.endswith(", all"):
                continue
            with self.subTest(name):
                covered = sum(trace.slices(u)[-1][1] - trace.slices(u)[0][0]
                              for u in trace.lanes(WAITS_LANE))
                self.assertEqual(covered, result["total"]["wall_ns"])

    def test_devices_are_groups_with_their_lanes(self):
        for result, trace in self.each():
            groups = {u: t for u, t in trace.tracks.items() if t["pid"] is not None}
            self.assertGreaterEqual(len(groups), result["window"]["devices"])
            self.assertEqual(len({t["pid"] for t in groups.values()}), len(groups))
            for uuid in trace.lanes(WAITS_LANE):
                self.assertTrue(groups[trace.tracks[uuid]["parent"]]["name"].startswith("rank "))

    def test_arrows_join_two_slices_of_different_devices(self):
        for _, trace in self.each():
            ends = collections.defaultdict(list)
            for event in trace.events:
                for flow in event.flows:
                    ends[flow].append(event)
            for pair in ends.values():
                self.assertEqual(len(pair), 2)
                self.assertNotEqual(pair[0].track, pair[1].track)
                self.assertLessEqual(pair[0].time, pair[1].time)

    def test_the_whole_path_does_not_overlap_itself(self):
        for _, trace in self.each():
            for uuid in trace.lanes("critical path"):
                slices = trace.slices(uuid)
                for before, after in zip(slices, slices[1:]):
                    self.assertLessEqual(before[1], after[0])

    def test_the_time_of_day_is_told(self):
        for result, trace in self.each():
            boot, real = trace.clocks[6], trace.clocks[1]
            first = min(e.time for e in trace.events) - boot + real
            slack = HOUR_NS
            self.assertGreater(first, result["window"]["begin_ns"] - slack)
            self.assertLess(first, result["window"]["end_ns"] + slack)

    def test_protoc_can_read_it(self):
        protoc = shutil.which("protoc")
        if protoc is None:
            self.skipTest("no protoc")
        for _, trace in self.each():
            run = subprocess.run([protoc, "--decode_raw"], input=trace.data, check=False,
                                 stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
            self.assertEqual(run.returncode, 0, run.stderr[:300])


if __name__ == "__main__":
    common.main(needs_data=False)
