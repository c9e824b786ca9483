// The reader in TypeScript against loads written by hand, as bench.c. Both add the halves of a time: bigints are slow.
import { readFileSync } from "node:fs";
import { BytesSource, IndexFile } from "../typescript/dist/src/index.js";

const CARRY = 2 ** 32; // a sum of more would not be exact
const [, , path, rounds] = process.argv;
const bytes = readFileSync(path);
const file = new IndexFile(new BytesSource(bytes), { verify: false });

function byHand() {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    let low = 0, high = 0;
    const kinds = [0, 0, 0, 0];
    for (let at = 64; at + 64 < bytes.length; at += 32) {
        low += view.getUint32(at, true);
        if (low >= CARRY) { low -= CARRY; high++; }
        high += view.getUint32(at + 4, true);
        kinds[view.getUint32(at + 20, true) & 3]++;
    }
    return { low, high, kinds };
}

function byReader() {
    let low = 0, high = 0;
    const kinds = [0, 0, 0, 0];
    for (const block of file.blocks()) {
        for (let k = 0; k < block.length; k++) {
            const event = block.at(k);
            low += event.timestampNsLow;
            if (low >= CARRY) { low -= CARRY; high++; }
            high += event.timestampNsHigh;
            kinds[event.eventKind & 3]++;
        }
    }
    return { low, high, kinds };
}

const sums = [];
for (let round = 0; round < Number(rounds); round++) {
    const times = [byHand, byReader].map((work, which) => {
        const start = process.hrtime.bigint();
        sums[which] = work();
        return Number(process.hrtime.bigint() - start) / 1e9;
    });
    console.log(...times);
}
if (JSON.stringify(sums[0]) !== JSON.stringify(sums[1])) throw new Error("the sums differ");
const total = BigInt.asUintN(64, BigInt(sums[0].low) + (BigInt(sums[0].high) << 32n));
console.log(total.toString(), sums[0].kinds[1]);
