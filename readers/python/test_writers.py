"""Tests what the kit's scripts cannot: refused events, and sessions that a program reads back."""

from __future__ import annotations

import os
import struct
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "src"))

from adatrace_reader import (  # noqa: E402
    WIRES,
    Arch,
    Clock,
    Detail,
    DetailEventType,
    DetailFunctionPayload,
    EventKind,
    IndexHeader,
    Os,
    Session,
    SessionWriter,
    ThreadWriter,
)


class Writers(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def session(self, wire: int) -> SessionWriter:
        folder = os.path.join(self.folder, str(wire))
        header = IndexHeader(arch=Arch.ARM64, os=Os.IOS, clock_type=Clock.QPC)
        return SessionWriter(folder, header, wire=wire)

    def test_a_session_is_read_back(self) -> None:
        for wire in WIRES:
            with self.session(wire) as writer:
                registers = DetailFunctionPayload(function_id=5, x_regs=tuple(range(8)), stack_size=2)
                detail = Detail(registers.write(wire) + b"ab", DetailEventType.FUNCTION_CALL)
                thread = writer.thread(7)
                self.assertEqual(thread.event(10, 5, EventKind.CALL, call_depth=1), 0)
                self.assertEqual(thread.event(20, 6, EventKind.CALL, detail=detail), 1)
                writer.manifest["symbols"] = [{"function_id": "0x0000000000000005", "name": "é"}]
            session = Session(writer.folder)
            (read,) = session.threads
            self.assertTrue(read.is_whole)
            self.assertEqual(read.loose_links(), (0, 0))
            self.assertEqual(session.manifest["threads"], [{"id": 7, "has_detail": True}])
            self.assertEqual(session.manifest["time_end_ns"], 20)
            own = next(iter(read.detail or ()))
            assert own.function and read.index
            self.assertEqual((own.function.registers, bytes(own.function.stack)), (registers, b"ab"))
            self.assertEqual(read.index[0].call_depth, 1 if wire == 1 else None)

    def test_nothing_follows_a_footer(self) -> None:
        thread = self.session(2).thread(0)
        thread.finalize()
        with self.assertRaisesRegex(ValueError, "index.atf: it is finalized"):
            thread.event(1, 1, EventKind.CALL)
        thread.finalize()

    def test_a_number_that_does_not_fit_is_refused_and_nothing_is_appended(self) -> None:
        thread = self.session(2).thread(0)
        for detail in (None, Detail(b"", 65536)):
            with self.assertRaises(struct.error):
                thread.event(1, 1, 256 if detail is None else 1, detail=detail)
        thread.finalize()
        self.assertFalse(thread.has_detail)
        self.assertEqual(thread.times, ())

    def test_an_event_that_cannot_be_counted_is_refused(self) -> None:
        thread = self.session(1).thread(0)
        thread.event(1, 1, EventKind.CALL, detail=Detail(b"", 3))
        assert thread._detail
        thread._detail.stated.count = 2**32 - 1
        with self.assertRaisesRegex(ValueError, "detail.atf: it has 4294967295 events"):
            thread.event(1, 1, EventKind.CALL, detail=Detail(b"", 3))
        thread._index.stated.count = 2**32 - 1
        with self.assertRaisesRegex(ValueError, "index.atf: it has 4294967295 events"):
            thread.event(1, 1, EventKind.CALL)

    def test_a_trace_is_not_overwritten(self) -> None:
        self.session(1).thread(0)
        with self.assertRaises(FileExistsError):
            self.session(1).thread(0)

    def test_a_key_of_the_wrong_type_is_refused(self) -> None:
        session = self.session(1)
        session.manifest["symbols"] = "none"
        with self.assertRaisesRegex(ValueError, "manifest.json"):
            session.finalize()
        self.assertFalse(os.path.exists(os.path.join(session.folder, "manifest.json")))


if __name__ == "__main__":
    unittest.main()
