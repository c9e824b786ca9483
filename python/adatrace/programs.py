"""The programs of the package: `adatrace` grades implementations, `atf-archive` packs and unpacks sessions."""

from __future__ import annotations

import argparse
import pathlib
import subprocess
import sys
import sysconfig

from . import AtfError, open, pack, unpack


def archive(arguments: list[str] | None = None) -> int:
    """Packs or unpacks. Returns 0 on success and 2 on failure. A failed command leaves no output."""
    parser = argparse.ArgumentParser(prog="atf-archive", description="Packs and unpacks sessions.")
    commands = parser.add_subparsers(dest="command", required=True)
    command = commands.add_parser("pack", help="pack a session into an archive of Parquet files")
    command.add_argument("session", metavar="SESSION")
    command.add_argument("archive", metavar="ARCHIVE", help="the archive's folder; it may contain other sessions")
    command.add_argument("--tables", metavar="T,T", help="tables in addition to events, details and files")
    selected(command)
    command = commands.add_parser("unpack", help="restore a session's files")
    command.add_argument("archive", metavar="ARCHIVE")
    command.add_argument("session", metavar="SESSION", help="the new folder; it must not exist")
    selected(command)
    options = parser.parse_args(arguments)
    try:
        print(packed(options) if options.command == "pack" else unpacked(options))
    except (AtfError, ValueError) as error:
        print(f"atf-archive: {error}", file=sys.stderr)
        return 2
    return 0


def selected(command: argparse.ArgumentParser) -> None:
    command.add_argument("--host", metavar="H", help="the host, as the partition host=H")
    command.add_argument("--name", metavar="S", help="the session, as the partition session=S")


def packed(options: argparse.Namespace) -> str:
    tables = None if options.tables is None else [name for name in options.tables.split(",") if name]
    result = pack(options.session, options.archive, host=options.host, name=options.name, tables=tables)
    lines = [
        f"packed {result.session_bytes} bytes as {result.bytes} bytes in {result.files} files; restored and compared",
        f"  {result.from_tables} bytes from rows of tables, {result.header_footer} of headers and footers,"
        f" {result.other} of other files, {result.unreproduced} of events or details that no row reproduces",
    ]
    lines += [f"  the trace is damaged or unfinished: {problem.message}" for problem in result.problems]
    lines += [f"  {loss.message}" for loss in open(options.session).losses]
    return "\n".join(lines)


def unpacked(options: argparse.Namespace) -> str:
    result = unpack(options.archive, options.session, host=options.host, name=options.name)
    return f"unpacked {result.files} files, {result.bytes} bytes"


def kit() -> int:
    """Runs `atf-conformance`, which wheels contain, with this process's arguments. Returns its exit status."""
    program = pathlib.Path(sysconfig.get_path("scripts"), "atf-conformance")
    try:
        return subprocess.run([program, *sys.argv[1:]], check=False).returncode
    except OSError as error:
        print(f"adatrace: {program}: {error.strerror}: only wheels contain this program; build it from source with"
              " `cargo install --path conformance`", file=sys.stderr)
        return 2
