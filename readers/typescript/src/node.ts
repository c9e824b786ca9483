/** Files and sessions on disk, for Node. Symlinks in a session are not followed. */

import * as fs from "node:fs";

import { DetailFile, IndexFile, RefusedError, type ReadOptions } from "./files.js";
import { parseManifest, type Manifest } from "./manifest.js";
import type { IndexEvent } from "./records.js";
import { BytesSource, type Source } from "./source.js";

/** A file that is read in parts. It can be larger than memory. */
export class FileSource implements Source {
    readonly size: number;
    readonly #file: number;

    constructor(path: string) {
        this.#file = fs.openSync(path, "r");
        this.size = fs.fstatSync(this.#file).size;
    }

    /** Returns bytes of the file, or zeros if it was truncated after it was opened. */
    read(offset: number, length: number): Uint8Array {
        const bytes = new Uint8Array(length);
        for (let done = 0; done < length;) {
            // Node reads less than 2 GiB at once.
            const most = Math.min(length - done, 2 ** 30);
            const got = fs.readSync(this.#file, bytes, done, most, offset + done);
            if (got === 0) break;
            done += got;
        }
        return bytes;
    }

    /** Closes the file, which can then no longer be read. */
    close(): void {
        fs.closeSync(this.#file);
    }
}

/** Small files are read in full, so that sessions with many threads do not keep them all open. */
const SMALL = 1 << 20;

/** Opens a regular file, or returns undefined if it does not exist. */
function open(path: string): Source | undefined {
    const status = fs.lstatSync(path, { throwIfNoEntry: false });
    if (status === undefined || !status.isFile()) return undefined;
    if (status.size > SMALL) return new FileSource(path);
    return new BytesSource(fs.readFileSync(path));
}

/** An event of a session, with its thread and its position there. */
export interface Merged {
    readonly threadId: number;
    readonly seq: number;
    readonly event: IndexEvent;
}

/** A thread's files. One that is absent or refused is undefined; `refused` says why. */
export class Thread {
    /** The number in the name of the thread's folder. */
    readonly id: number;
    readonly index: IndexFile | undefined;
    readonly detail: DetailFile | undefined;
    readonly refused: RefusedError[] = [];
    readonly #files: FileSource[] = [];

    constructor(id: number, folder: string, options: Pick<ReadOptions, "verify"> = {}) {
        this.id = id;
        if (!fs.lstatSync(folder).isDirectory()) return;
        const read = <File>(
            path: string,
            Reader: new (source: Source, options: ReadOptions) => File,
        ): File | undefined => {
            try {
                const source = open(path);
                if (source === undefined) return undefined;
                if (source instanceof FileSource) this.#files.push(source);
                return new Reader(source, { ...options, name: path });
            } catch (error) {
                if (error instanceof RefusedError) {
                    this.refused.push(error);
                    return undefined;
                }
                this.close();
                throw error;
            }
        };
        this.index = read(`${folder}/index.atf`, IndexFile);
        this.detail = read(`${folder}/detail.atf`, DetailFile);
        if (this.index && this.detail && this.index.wire !== this.detail.wire) {
            const expected = `${this.index.wire}, as in index.atf`;
            const path = `${folder}/detail.atf`;
            this.refused.push(
                new RefusedError(path, 5, "detail header, version", expected, "ATF-LINK-008"),
            );
            this.detail = undefined;
        }
    }

    /** Closes the files, which can then no longer be read. */
    close(): void {
        for (const file of this.#files.splice(0)) file.close();
    }

    /** Whether every existing file was finalized, and no event is missing. */
    get isWhole(): boolean {
        const { index, detail } = this;
        if (!index?.isFinalized || this.refused.length > 0) return false;
        return !index.hasHoles() && (detail?.isFinalized ?? true);
    }

    /** Returns the events with their positions, except for holes. */
    *events(): Generator<{ seq: number; event: IndexEvent }, void, undefined> {
        if (this.index === undefined) return;
        let seq = 0;
        for (const event of this.index) {
            if (!this.index.isHole(seq)) yield { seq, event };
            seq++;
        }
    }

    /** Counts the links without a link back, in the index and in the details. */
    looseLinks(): { dangling: number; orphans: number } {
        const back = Array.from(this.detail ?? [], (event) => Number(event.header.indexSeq));
        const forward = new Map<number, number>();
        for (const { seq, event } of this.events()) {
            const to = event.detailSeq;
            if (to !== undefined) forward.set(seq, Number(to));
        }
        let dangling = 0;
        for (const [seq, to] of forward) if (back[to] !== seq) dangling++;
        const orphans = back.filter((to, seq) => forward.get(to) !== seq).length;
        return { dangling, orphans };
    }
}

/** Successive events of a thread whose times do not decrease: usually all of them. */
interface Run {
    readonly threadId: number;
    readonly index: IndexFile;
    /** The run's place in the order of threads and positions. */
    readonly rank: number;
    /** The position of the last event. */
    last: number;
    /** The next event, its position and its time. */
    event: IndexEvent;
    seq: number;
    time: bigint;
}

function isBefore(one: Run, other: Run): boolean {
    return one.time < other.time || (one.time === other.time && one.rank < other.rank);
}

/** Restores the order of a heap of runs after its first run has changed. */
function sink(heap: Run[]): void {
    const own = heap[0]!;
    let at = 0;
    for (;;) {
        let child = 2 * at + 1;
        if (child + 1 < heap.length && isBefore(heap[child + 1]!, heap[child]!)) child++;
        if (child >= heap.length || !isBefore(heap[child]!, own)) break;
        heap[at] = heap[child]!;
        at = child;
    }
    heap[at] = own;
}

/** The threads of a traced process. */
export class Session {
    /** The process's folder. */
    readonly folder: string;
    /** The threads, by id. */
    readonly threads: readonly Thread[];
    /** The manifest, or undefined if it is absent or cannot be used. */
    readonly manifest: Manifest | undefined;
    /** Why the manifest cannot be used, if it exists but is invalid. */
    readonly manifestError: unknown;

    /**
     * Opens a session's folder, or a folder that contains the folder of one process. Throws the
     * system's error if a folder or a file cannot be opened.
     */
    constructor(folder: string, options: Pick<ReadOptions, "verify"> = {}) {
        this.folder = processFolder(folder);
        const threads: Thread[] = [];
        this.threads = threads;
        try {
            for (const [id, name] of numbered(this.folder, "thread_")) {
                threads.push(new Thread(id, `${this.folder}/${name}`, options));
            }
        } catch (error) {
            this.close();
            throw error;
        }
        try {
            this.manifest = manifestOf(`${this.folder}/manifest.json`);
        } catch (error) {
            this.manifestError = error;
        }
    }

    /**
     * Returns the events of all threads by time, then by thread and position, except for holes. It
     * keeps no events in memory.
     */
    *merged(): Generator<Merged, void, undefined> {
        const runs: Run[] = [];
        for (const thread of this.threads) {
            let run: Run | undefined;
            let latest = 0n;
            for (const { seq, event } of thread.events()) {
                const time = event.timestampNs;
                if (run === undefined || time < latest) {
                    const { id: threadId, index } = thread;
                    run = { threadId, index: index!, rank: runs.length, last: seq, event, seq, time };
                    runs.push(run);
                }
                run.last = seq;
                latest = time;
            }
        }
        runs.sort((one, other) => (isBefore(one, other) ? -1 : 1));
        while (runs.length > 0) {
            const run = runs[0]!;
            const { threadId, seq, event } = run;
            yield { threadId, seq, event };
            if (seq < run.last) {
                do run.seq++;
                while (run.index.isHole(run.seq));
                run.event = run.index.at(run.seq)!;
                run.time = run.event.timestampNs;
            } else if (runs.length > 1) {
                runs[0] = runs.pop()!;
            } else return;
            sink(runs);
        }
    }

    /** Closes the files of all threads, which can then no longer be read. */
    close(): void {
        for (const thread of this.threads) thread.close();
    }
}

/** Lists the entries of a folder whose names are `prefix` and a 32-bit number, by number. */
function numbered(folder: string, prefix: string): [number, string][] {
    return fs
        .readdirSync(folder)
        .filter((name) => name.startsWith(prefix) && /^[0-9]+$/.test(name.slice(prefix.length)))
        .map((name): [number, string] => [Number(name.slice(prefix.length)), name])
        .filter(([id]) => id < 2 ** 32)
        .sort(([one], [other]) => one - other);
}

/** Returns the folder of the only process, if the folder itself has no threads or manifest. */
function processFolder(folder: string): string {
    const names = numbered(folder, "pid_");
    const isSession =
        numbered(folder, "thread_").length > 0 ||
        fs.lstatSync(`${folder}/manifest.json`, { throwIfNoEntry: false }) !== undefined;
    return names.length === 1 && !isSession ? `${folder}/${names[0]![1]}` : folder;
}

function manifestOf(path: string): Manifest | undefined {
    const status = fs.lstatSync(path, { throwIfNoEntry: false });
    if (status === undefined) return undefined;
    if (!status.isFile()) throw new Error(`${path}: not a regular file`);
    return parseManifest(fs.readFileSync(path));
}
