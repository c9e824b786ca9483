/** Reads ATF v2 (ADA Trace Format): function traces, one file of events for each thread. */

export * from "./files.js";
export * from "./manifest.js";
export * from "./records.js";
export { BlobSource, BytesSource, type Source } from "./source.js";
