#!/usr/bin/env node
/** Answers the conformance kit: testee.js read PATH, testee.js serve, or testee.js accessors. */

import * as fs from "node:fs";

import { BytesSource, DetailFile, IndexFile, RefusedError } from "./src/index.js";
import * as records from "./src/records.js";
import { Session, type Thread } from "./src/node.js";

type Kind = "index" | "detail";
type Answer = { readonly kind: string; readonly verdict: string };

function hex(bytes: Uint8Array): string {
    return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Returns a record's fields, except for the magic. */
function fields(record: { toJSON(): Record<string, unknown> }): Record<string, unknown> {
    const { magic, ...others } = record.toJSON();
    return others;
}

function eventsOf(file: IndexFile | DetailFile): Record<string, unknown>[] {
    if (file instanceof IndexFile) return Array.from(file, fields);
    return Array.from(file, ({ header, payload, function: captured }) => ({
        ...fields(header),
        payload: hex(payload),
        function: captured ? { ...fields(captured.registers), stack: hex(captured.stack) } : null,
    }));
}

function ofFile(file: IndexFile | DetailFile, kind: Kind): Answer {
    const { header, footer } = file;
    const events = eventsOf(file);
    const counted = kind === "index" ? "file_size" : "framing";
    const derived = {
        event_count: String(events.length),
        count_source: footer ? "footer" : counted,
        checksum: !footer ? "not_checked" : footer.checksum === 0 ? "absent" : "good",
        trailing_bytes: String(file.trailingBytes),
    };
    const hasHoles = file instanceof IndexFile && file.hasHoles();
    const verdict = file.isFinalized && !hasHoles ? "accept" : "recover";
    const others = { header: fields(header), footer: footer ? fields(footer) : null };
    return { kind, verdict, ...others, derived, events } as Answer;
}

function ofMember(thread: Thread, kind: Kind): Answer | null {
    const file = thread[kind];
    if (file !== undefined) return ofFile(file, kind);
    const isRefused = thread.refused.some((error) => error.file.endsWith(`/${kind}.atf`));
    return isRefused ? { kind, verdict: "reject" } : null;
}

function ofSession(session: Session): Answer {
    const { threads, manifest, manifestError } = session;
    const merged = Array.from(session.merged());
    if (manifestError !== undefined) console.error(String(manifestError));
    const used = manifest ? "used" : manifestError !== undefined ? "ignored" : "absent";
    const hasIndex = threads.length === 0 || threads.some((thread) => thread.index);
    const isWhole = used !== "ignored" && threads.every((thread) => thread.isWhole);
    const sum = (count: (thread: Thread) => number) =>
        String(threads.reduce((total, thread) => total + count(thread), 0));
    const time = (at: number) => merged.at(at)?.event.timestampNs.toString() ?? null;
    return {
        kind: "session",
        verdict: !hasIndex ? "reject" : isWhole ? "accept" : "recover",
        threads: threads.map((thread) => {
            const { dangling, orphans } = thread.looseLinks();
            return {
                thread_id: thread.id,
                index: ofMember(thread, "index"),
                detail: ofMember(thread, "detail"),
                derived: { dangling_links: String(dangling), orphan_details: String(orphans) },
            };
        }),
        derived: {
            manifest: used,
            event_count: sum((thread) => thread.index?.length ?? 0),
            detail_count: sum((thread) => Array.from(thread.detail ?? []).length),
            time_start_ns: time(0),
            time_end_ns: time(-1),
            merged: merged.map(({ threadId, seq }) => [threadId, String(seq)]),
        },
    } as Answer;
}

function read(path: string): Answer {
    if (fs.lstatSync(path).isDirectory()) {
        const session = new Session(path);
        try {
            return ofSession(session);
        } finally {
            session.close();
        }
    }
    const bytes = fs.readFileSync(path);
    const hasMagic = String.fromCharCode(...bytes.subarray(0, 4)) === "ATD2";
    const kind = hasMagic || path.endsWith("/detail.atf") ? "detail" : "index";
    const Reader = kind === "detail" ? DetailFile : IndexFile;
    try {
        return ofFile(new Reader(new BytesSource(bytes)), kind);
    } catch (error) {
        if (error instanceof RefusedError) return { kind, verdict: "reject" };
        throw error;
    }
}

/** Returns the fields of a record, from its name, its wire version and its bytes in hex. */
function accessors(line: string): { fields: Record<string, unknown> } {
    const [name = "", wire, data = ""] = line.split(" ");
    const pascal = name.replace(/(?:^|_)(.)/g, (_, first: string) => first.toUpperCase());
    const bytes = Uint8Array.from(data.match(/../g) ?? [], (byte) => parseInt(byte, 16));
    const all = records as unknown as Record<string, typeof records.IndexEvent>;
    const record = all[pascal]!.read(new DataView(bytes.buffer), 0, Number(wire) as records.Wire);
    return { fields: fields(record) };
}

function print(answer: object): void {
    const line = new TextEncoder().encode(`${JSON.stringify(answer)}\n`);
    for (let done = 0; done < line.length;) done += fs.writeSync(1, line, done);
}

function* lines(): Generator<string, void, undefined> {
    const decoder = new TextDecoder();
    const bytes = new Uint8Array(65536);
    let rest = "";
    for (;;) {
        const length = fs.readSync(0, bytes, 0, bytes.length, null);
        if (length === 0) return;
        const parts = (rest + decoder.decode(bytes.subarray(0, length), { stream: true })).split(
            "\n",
        );
        rest = parts.pop()!;
        yield* parts;
    }
}

const [command, path] = process.argv.slice(2);
if (command === "read" && path !== undefined) {
    const answer = read(path);
    print(answer);
    process.exitCode = answer.verdict === "reject" ? 1 : 0;
} else if (command === "serve") {
    for (const line of lines()) print(read(JSON.parse(line) as string));
} else if (command === "accessors") {
    for (const line of lines()) print(accessors(line));
} else {
    console.error("usage: testee.js read PATH | testee.js serve | testee.js accessors");
    process.exitCode = 2;
}
