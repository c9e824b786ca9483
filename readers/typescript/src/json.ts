/** Strict JSON for manifests: UTF-8 without a byte-order mark, no duplicate keys, exact integers. */

/** A value. Integers of at most 64 bits are bigints, other numbers are numbers. */
export type Value = null | boolean | string | bigint | number | Value[] | Map<string, Value>;

/** Invalid text, or an unexpected value. */
export class InvalidError extends Error {
    override readonly name = "InvalidError";
}

/** Parses a text. Throws an InvalidError if it is invalid, or nested more than 128 levels deep. */
export function parse(bytes: Uint8Array): Value {
    let text: string;
    try {
        text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    } catch {
        throw new InvalidError("invalid UTF-8");
    }
    return new Parser(text).whole();
}

class Parser {
    readonly #text: string;
    #at = 0;
    #depth = 0;

    constructor(text: string) {
        this.#text = text;
    }

    whole(): Value {
        const value = this.#value();
        if (this.#at < this.#text.length) this.#fail("the end");
        return value;
    }

    #fail(expected: string): never {
        throw new InvalidError(`character ${this.#at}: expected ${expected}`);
    }

    #take(word: string): boolean {
        if (!this.#text.startsWith(word, this.#at)) return false;
        this.#at += word.length;
        return true;
    }

    #expect(word: string): void {
        if (!this.#take(word)) this.#fail(word);
    }

    #match(pattern: RegExp): string {
        pattern.lastIndex = this.#at;
        const found = pattern.exec(this.#text)?.[0] ?? "";
        this.#at += found.length;
        return found;
    }

    #space(): void {
        this.#match(/[ \t\n\r]*/y);
    }

    /** Parses a value and the white space around it. */
    #value(): Value {
        if (this.#depth === 128) this.#fail("less nesting");
        this.#depth++;
        this.#space();
        const value = this.#bare();
        this.#space();
        this.#depth--;
        return value;
    }

    #bare(): Value {
        if (this.#take("true")) return true;
        if (this.#take("false")) return false;
        if (this.#take("null")) return null;
        if (this.#text[this.#at] === '"') return this.#string();
        if (this.#take("[")) return this.#items("]", () => this.#value());
        if (!this.#take("{")) return this.#number();
        const members = this.#items("}", (): [string, Value] => {
            this.#space();
            const key = this.#string();
            this.#space();
            this.#expect(":");
            return [key, this.#value()];
        });
        const map = new Map(members);
        if (map.size < members.length) this.#fail("keys that differ");
        return map;
    }

    #items<Item>(close: string, item: () => Item): Item[] {
        const items: Item[] = [];
        this.#space();
        if (this.#take(close)) return items;
        do items.push(item());
        while (this.#take(","));
        this.#expect(close);
        return items;
    }

    #number(): bigint | number {
        const digits = this.#match(/-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y);
        if (digits === "") this.#fail("a value");
        // -0 is not an integer.
        const isInteger = digits !== "-0" && digits.length <= 20 && /^-?[0-9]+$/.test(digits);
        return isInteger ? BigInt(digits) : Number(digits);
    }

    #string(): string {
        const start = this.#at;
        this.#expect('"');
        while (!this.#take('"')) {
            if (this.#at >= this.#text.length) this.#fail('"');
            this.#at += this.#text[this.#at] === "\\" ? 2 : 1;
        }
        let text: string;
        try {
            text = JSON.parse(this.#text.slice(start, this.#at)) as string;
        } catch {
            this.#fail("valid characters before it");
        }
        if (/[\uD800-\uDFFF]/u.test(text)) this.#fail("no lone surrogate before it");
        return text;
    }
}

/** Converts a value, or throws an InvalidError. */
export type Reader<Type> = (value: Value) => Type;

function invalid(expected: string): never {
    throw new InvalidError(`expected ${expected}`);
}

export function object(value: Value): Map<string, Value> {
    return value instanceof Map ? value : invalid("an object");
}

export function text(value: Value): string {
    return typeof value === "string" ? value : invalid("a string");
}

export function truth(value: Value): boolean {
    return typeof value === "boolean" ? value : invalid("true or false");
}

/** Reads a number that is written as text, such as "0x1f". */
export function hex(value: Value): bigint {
    const isHex = typeof value === "string" && /^0x[0-9a-fA-F]{1,16}$/.test(value);
    return isHex ? BigInt(value) : invalid("a number such as 0x1f");
}

export function integer(least: bigint, greatest: bigint): Reader<bigint> {
    return (value) =>
        typeof value === "bigint" && value >= least && value <= greatest
            ? value
            : invalid(`an integer from ${least} to ${greatest}`);
}

export function list<Type>(read: Reader<Type>): Reader<Type[]> {
    return (value) => (Array.isArray(value) ? value.map(read) : invalid("a list"));
}

export function required<Type>(members: Map<string, Value>, key: string, read: Reader<Type>): Type {
    return optional(members, key, read) ?? invalid(`the key ${key}`);
}

export function optional<Type>(
    members: Map<string, Value>,
    key: string,
    read: Reader<Type>,
): Type | undefined {
    const value = members.get(key);
    try {
        return value === undefined ? undefined : read(value);
    } catch (error) {
        if (error instanceof InvalidError) error.message = `${key}: ${error.message}`;
        throw error;
    }
}
