/** The sources of a file's bytes. All reads are synchronous; in a browser, use a worker. */

/** The maximum offset, which no file has. Arithmetic saturates there. */
export const NOWHERE = Number.MAX_SAFE_INTEGER;

/** The bytes of a file. */
export interface Source {
    /** The file's size in bytes. */
    readonly size: number;
    /** Returns bytes of the file, which never change afterwards. */
    read(offset: number, length: number): Uint8Array;
}

/** A file in memory. */
export class BytesSource implements Source {
    readonly #bytes: Uint8Array;

    constructor(bytes: Uint8Array) {
        this.#bytes = bytes;
    }

    get size(): number {
        return this.#bytes.length;
    }

    read(offset: number, length: number): Uint8Array {
        return this.#bytes.subarray(offset, offset + length);
    }
}

/** A Blob or File of a browser, in a worker. It may be larger than memory. */
export class BlobSource implements Source {
    readonly #blob: Blob;
    readonly #reader = new FileReaderSync();

    constructor(blob: Blob) {
        this.#blob = blob;
    }

    get size(): number {
        return this.#blob.size;
    }

    read(offset: number, length: number): Uint8Array {
        const slice = this.#blob.slice(offset, offset + length);
        return new Uint8Array(this.#reader.readAsArrayBuffer(slice));
    }
}

/** The place of a field in its record, and its only valid value. */
export interface Place {
    readonly offset: number;
    readonly width: number;
    readonly value: number;
}

const BLOCK = 65536;
const HEAD = 4096;
/** The size of the largest number in bytes. */
const LONGEST = 8;

/** The numbers in a source. Bytes after its end read as 0. */
export class Window {
    readonly size: number;
    readonly #source: Source;
    readonly #head: DataView;
    #block: DataView;
    #start = 0;
    #dataEnd: number;

    constructor(source: Source) {
        this.#source = source;
        this.size = source.size;
        this.#head = this.#padded(0, HEAD);
        this.#block = this.#head;
        this.#dataEnd = this.#scan(0, this.size);
    }

    /** Returns bytes of the file. */
    bytes(at: number, length: number): Uint8Array {
        if (at + length > this.size) throw new RangeError(`no ${length} bytes at ${at}`);
        if (length > HEAD) return this.#source.read(at, length);
        this.#load(at);
        const { buffer, byteOffset, byteLength } = this.#block;
        const start = at - this.#start;
        if (start + length > byteLength) return this.#source.read(at, length);
        return new Uint8Array(buffer, byteOffset + start, length);
    }

    /** Returns a view of bytes of the file. */
    view(at: number, length: number): DataView {
        const { buffer, byteOffset } = this.bytes(at, length);
        return new DataView(buffer, byteOffset, length);
    }

    /** Returns a view of a copy of bytes of the file. */
    copied(at: number, length: number): DataView {
        // A Buffer's slice would not be a copy.
        return new DataView(new Uint8Array(this.bytes(at, length)).buffer);
    }

    number(at: number, place: Place): number {
        const start = at + place.offset;
        if (start >= this.size) return 0;
        let view = this.#head;
        let own = start;
        if (start >= HEAD) {
            this.#load(start);
            view = this.#block;
            own = start - this.#start;
        }
        switch (place.width) {
            case 1:
                return view.getUint8(own);
            case 2:
                return view.getUint16(own, true);
            case 4:
                return view.getUint32(own, true);
            case 8: {
                const high = view.getUint32(own + 4, true);
                return Math.min(view.getUint32(own, true) + high * 2 ** 32, NOWHERE);
            }
            default:
                return 0;
        }
    }

    isZero(from: number, to: number): boolean {
        const end = Math.min(to, this.#dataEnd);
        return from >= end || this.#scan(from, end) === 0;
    }

    begins(from: number, to: number, number: number, width: number): boolean {
        const end = Math.min(to, this.size, from + width);
        for (let k = 0; from + k < end; k++) {
            if (this.#byte(from + k) !== Math.floor(number / 2 ** (8 * k)) % 256) return false;
        }
        return true;
    }

    same(one: number, other: number, width: number): boolean {
        for (let k = 0; k < width; k++) {
            if (this.#byte(one + k) !== this.#byte(other + k)) return false;
        }
        return true;
    }

    dataEnd(end: number): number {
        return end >= this.#dataEnd ? this.#dataEnd : this.#scan(0, end);
    }

    crc32c(from: number, to: number): number {
        let crc = -1;
        for (let at = from; at < to; at += BLOCK) {
            crc = updated(crc, this.#source.read(at, Math.min(BLOCK, to - at)));
        }
        return ~crc >>> 0;
    }

    howMany(...truths: boolean[]): number {
        return truths.filter((truth) => truth).length;
    }

    #byte(at: number): number {
        return this.number(at, { offset: 0, width: 1, value: 0 });
    }

    /** Returns the offset after the last byte in a range of the file that is not 0, or 0. */
    #scan(from: number, to: number): number {
        for (let end = to; end > from;) {
            const start = Math.max(from, end - BLOCK);
            const bytes = this.bytes(start, end - start);
            for (let k = bytes.length - 1; k >= 0; k--) {
                if (bytes[k] !== 0) return start + k + 1;
            }
            end = start;
        }
        return 0;
    }

    /** Makes the block begin at or before an offset in the file, and reach beyond it. */
    #load(at: number): void {
        if (at >= this.#start && at < this.#start + this.#block.byteLength - LONGEST) return;
        this.#start = at - (at % BLOCK);
        this.#block = this.#padded(this.#start, BLOCK);
    }

    /** Returns a block of the file, followed by space for one number, padded with zeros. */
    #padded(start: number, length: number): DataView {
        const room = length + LONGEST;
        let bytes = this.#source.read(start, Math.min(room, this.size - start));
        if (bytes.length < room) {
            const all = new Uint8Array(room);
            all.set(bytes);
            bytes = all;
        }
        return new DataView(bytes.buffer, bytes.byteOffset, room);
    }
}

/** Eight tables of 256 numbers, to process eight bytes at a time. */
const CRC32C = new Int32Array(8 * 256);
for (let byte = 0; byte < 256; byte++) {
    let crc = byte;
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0x82f63b78 : 0);
    CRC32C[byte] = crc;
}
for (let k = 256; k < CRC32C.length; k++) {
    const crc = CRC32C[k - 256]!;
    CRC32C[k] = (crc >>> 8) ^ CRC32C[crc & 255]!;
}

function updated(before: number, bytes: Uint8Array): number {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    let crc = before;
    let at = 0;
    for (; at + 8 <= bytes.length; at += 8) {
        const low = crc ^ view.getInt32(at, true);
        const high = view.getInt32(at + 4, true);
        crc =
            CRC32C[1792 + (low & 255)]! ^
            CRC32C[1536 + ((low >>> 8) & 255)]! ^
            CRC32C[1280 + ((low >>> 16) & 255)]! ^
            CRC32C[1024 + (low >>> 24)]! ^
            CRC32C[768 + (high & 255)]! ^
            CRC32C[512 + ((high >>> 8) & 255)]! ^
            CRC32C[256 + ((high >>> 16) & 255)]! ^
            CRC32C[high >>> 24]!;
    }
    for (; at < bytes.length; at++) crc = (crc >>> 8) ^ CRC32C[(crc ^ bytes[at]!) & 255]!;
    return crc;
}
