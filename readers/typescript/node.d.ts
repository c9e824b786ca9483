/** The part of Node's interface that is used, so that the build needs no package. */

declare module "node:fs" {
    interface Status {
        readonly size: number;
        isFile(): boolean;
        isDirectory(): boolean;
    }
    function openSync(path: string, flags: string): number;
    function closeSync(file: number): void;
    function fstatSync(file: number): Status;
    function lstatSync(path: string): Status;
    function lstatSync(path: string, options: { throwIfNoEntry: false }): Status | undefined;
    function readSync(
        file: number,
        to: Uint8Array,
        start: number,
        length: number,
        offset: number | null,
    ): number;
    function readFileSync(path: string): Uint8Array;
    function readdirSync(folder: string): string[];
    function writeSync(file: number, text: Uint8Array, start: number): number;
}

declare const process: { readonly argv: string[]; exitCode: number };
