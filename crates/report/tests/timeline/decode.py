"""Reads a Perfetto trace with the definitions that Perfetto publishes (PyPI: perfetto) and prints a line for everything.

The same lines as tests/timeline/decoded.rs makes, so that the two can be compared. Ends with an error if there is a field
that the definitions do not have.
"""

import json
import struct
import sys

from google.protobuf.unknown_fields import UnknownFieldSet
from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as schema


def refuse_unknown(message, where):
    if len(UnknownFieldSet(message)):
        sys.exit(f"{where}: a field that the definitions do not have")
    for field, value in message.ListFields():
        if field.type != field.TYPE_MESSAGE:
            continue
        repeated = hasattr(value, "add")
        for item in value if repeated else [value]:
            refuse_unknown(item, f"{where}.{field.name}")


def quoted(text):
    return json.dumps(text, ensure_ascii=False)


def bits(number):
    return hex(struct.unpack("<Q", struct.pack("<d", number))[0])


class Interned:
    def __init__(self):
        self.kinds = {}

    def add(self, data):
        for kind in (
            "event_categories",
            "event_names",
            "debug_annotation_names",
            "debug_annotation_string_values",
        ):
            for entry in getattr(data, kind):
                value = entry.str.decode() if hasattr(entry, "str") else entry.name
                self.kinds[(kind, entry.iid)] = value

    def get(self, kind, iid):
        return self.kinds[(kind, iid)]


def annotation(it, interned):
    name = it.name if it.HasField("name") else interned.get("debug_annotation_names", it.name_iid)
    which = it.WhichOneof("value")
    value = getattr(it, which)
    if which == "bool_value":
        value = "true" if value else "false"
    elif which == "int_value":
        value = str(value)
    elif which == "double_value":
        value = bits(value)
    elif which == "string_value_iid":
        value = interned.get("debug_annotation_string_values", value)
    elif which != "string_value":
        sys.exit(f"an annotation with {which}")
    return f" {quoted(name)}={quoted(value)}"


def event(packet, interned):
    it = packet.track_event
    names = [it.name] if it.HasField("name") else []
    if it.HasField("name_iid"):
        names.append(interned.get("event_names", it.name_iid))
    categories = [interned.get("event_categories", iid) for iid in it.category_iids]
    line = f"event {it.type} {it.track_uuid} {packet.timestamp}"
    line += f" {quoted(''.join(categories))} {quoted(''.join(names))}"
    for one in it.debug_annotations:
        line += annotation(one, interned)
    for flow in it.flow_ids:
        line += f" >{flow}"
    for flow in it.terminating_flow_ids:
        line += f" <{flow}"
    if it.type == schema.TrackEvent.TYPE_COUNTER:
        line += f" {bits(it.double_counter_value)}"
    return line


def track(it):
    name, pid, tid = it.name, 0, 0
    if it.HasField("process"):
        name, pid = it.process.process_name, it.process.pid
    if it.HasField("thread"):
        name, pid, tid = it.thread.thread_name, it.thread.pid, it.thread.tid
    counter = int(it.HasField("counter"))
    return f"track {it.uuid} parent {it.parent_uuid} pid {pid} tid {tid} counter {counter} {quoted(name)}"


def ftrace(bundle):
    for it in bundle.event:
        at = it.timestamp
        if it.HasField("sched_switch"):
            sw = it.sched_switch
            previous = f"{sw.prev_pid} {quoted(sw.prev_comm)} {sw.prev_state}"
            yield f"switch {bundle.cpu} {at} {previous} {sw.next_pid} {quoted(sw.next_comm)}"
        elif it.HasField("sched_waking"):
            woken = it.sched_waking
            yield f"waking {bundle.cpu} {at} {woken.pid} {quoted(woken.comm)} {woken.target_cpu}"
        else:
            sys.exit("an ftrace event of another kind")


def main():
    trace = schema.Trace()
    with open(sys.argv[1], "rb") as file:
        trace.ParseFromString(file.read())
    refuse_unknown(trace, "Trace")
    interned = Interned()
    lines = []
    for packet in trace.packet:
        if packet.HasField("interned_data"):
            interned.add(packet.interned_data)
        which = packet.WhichOneof("data")
        if which == "clock_snapshot":
            lines += [f"clock {it.clock_id} {it.timestamp}" for it in packet.clock_snapshot.clocks]
        elif which == "trace_attributes":
            for it in packet.trace_attributes.attribute:
                lines.append(f"note {quoted(it.key)} {quoted(it.string_value)}")
        elif which == "track_descriptor":
            lines.append(track(packet.track_descriptor))
        elif which == "track_event":
            lines.append(event(packet, interned))
        elif which == "ftrace_events":
            lines += ftrace(packet.ftrace_events)
        elif which == "process_tree":
            lines.append(f"process tree {packet.process_tree.ByteSize()} bytes")
        elif which is not None:
            sys.exit(f"a packet with {which}")
    sys.stdout.reconfigure(encoding="utf-8")
    sys.stdout.write("".join(line + "\n" for line in lines))


main()
