/* Validates a JSON text against a schema while parsing it, without building a tree. */
#include "reader.h"

#include <stdlib.h>
#include <string.h>

enum { DEEPEST = 128 };

typedef struct {
    const uint8_t *at, *end;
    /* All unescaped strings, one after another. They are never longer than the text. */
    uint8_t *decoded;
    int depth;
} Text;

/* A range within the unescaped strings. */
typedef struct {
    const uint8_t *bytes;
    size_t size;
} String;

static const Type any = {.kind = ANY};

static bool value(Text *text, const Type *type);

/* ---- Characters ---- */

/* Returns the next byte, or 0 at the end. JSON has no 0 bytes outside strings. */
static uint8_t peek(const Text *text) {
    return text->at < text->end ? *text->at : 0;
}

static bool take(Text *text, char byte) {
    if (text->at == text->end || *text->at != (uint8_t)byte) return false;
    text->at++;
    return true;
}

static bool take_word(Text *text, const char *word) {
    size_t size = strlen(word);
    if ((size_t)(text->end - text->at) < size || memcmp(text->at, word, size) != 0) return false;
    text->at += size;
    return true;
}

static void skip_space(Text *text) {
    while (peek(text) == ' ' || peek(text) == '\t' || peek(text) == '\n' || peek(text) == '\r') {
        text->at++;
    }
}

static bool is_digit(uint8_t byte) {
    return byte >= '0' && byte <= '9';
}

/* Returns the value of a hexadecimal digit, or -1. */
static int hex_digit(uint8_t byte) {
    if (is_digit(byte)) return byte - '0';
    if (byte >= 'a' && byte <= 'f') return byte - 'a' + 10;
    if (byte >= 'A' && byte <= 'F') return byte - 'A' + 10;
    return -1;
}

/* ---- Strings ---- */

/* Returns the UTF-8 size of the character at `at`, or 0 if it is invalid. */
static size_t utf8_size(const uint8_t *at, const uint8_t *end) {
    size_t size = at[0] < 0x80 ? 1 : at[0] < 0xC2 ? 0 : at[0] < 0xE0 ? 2 : at[0] < 0xF0 ? 3
                  : at[0] < 0xF5 ? 4 : 0;
    if ((size_t)(end - at) < size) return 0;
    for (size_t k = 1; k < size; k++) {
        if ((at[k] & 0xC0) != 0x80) return 0;
    }
    /* The character is overlong, a lone surrogate, or beyond the last code point. */
    if (size == 3 && at[0] == 0xE0 && at[1] < 0xA0) return 0;
    if (size == 3 && at[0] == 0xED && at[1] >= 0xA0) return 0;
    if (size == 4 && at[0] == 0xF0 && at[1] < 0x90) return 0;
    if (size == 4 && at[0] == 0xF4 && at[1] >= 0x90) return 0;
    return size;
}

static void put(Text *text, uint32_t byte) {
    *text->decoded++ = (uint8_t)byte;
}

static void put_character(Text *text, uint32_t code) {
    if (code < 0x80) {
        put(text, code);
    } else if (code < 0x800) {
        put(text, 0xC0 | code >> 6);
        put(text, 0x80 | (code & 0x3F));
    } else if (code < 0x10000) {
        put(text, 0xE0 | code >> 12);
        put(text, 0x80 | (code >> 6 & 0x3F));
        put(text, 0x80 | (code & 0x3F));
    } else {
        put(text, 0xF0 | code >> 18);
        put(text, 0x80 | (code >> 12 & 0x3F));
        put(text, 0x80 | (code >> 6 & 0x3F));
        put(text, 0x80 | (code & 0x3F));
    }
}

/* Parses the four digits after a \u. */
static bool code_unit(Text *text, uint32_t *unit) {
    if (text->end - text->at < 4) return false;
    *unit = 0;
    for (int k = 0; k < 4; k++) {
        int digit = hex_digit(*text->at++);
        if (digit < 0) return false;
        *unit = *unit << 4 | (uint32_t)digit;
    }
    return true;
}

/* Parses an escape sequence after the backslash. */
static bool escape(Text *text) {
    static const char names[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
    uint8_t byte = peek(text);
    const char *known = byte != 0 ? strchr(names, byte) : NULL;
    text->at++;
    if (known != NULL) {
        put(text, (uint8_t)meant[known - names]);
        return true;
    }
    uint32_t code, low;
    if (byte != 'u' || !code_unit(text, &code)) return false;
    if (code >= 0xD800 && code < 0xE000) {
        /* A surrogate pair. */
        if (code >= 0xDC00 || !take_word(text, "\\u") || !code_unit(text, &low)) return false;
        if (low < 0xDC00 || low >= 0xE000) return false;
        code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
    }
    put_character(text, code);
    return true;
}

static bool string(Text *text, String *found) {
    const uint8_t *start = text->decoded;
    if (!take(text, '"')) return false;
    while (!take(text, '"')) {
        if (peek(text) < ' ') return false;
        if (take(text, '\\')) {
            if (text->at == text->end || !escape(text)) return false;
            continue;
        }
        size_t size = utf8_size(text->at, text->end);
        if (size == 0) return false;
        for (; size > 0; size--) {
            put(text, *text->at++);
        }
    }
    *found = (String){start, (size_t)(text->decoded - start)};
    return true;
}

/* Returns whether a string is a 64-bit number in hexadecimal: 0x and up to 16 digits. */
static bool is_address(String text) {
    if (text.size < 3 || text.size > 18 || memcmp(text.bytes, "0x", 2) != 0) return false;
    for (size_t at = 2; at < text.size; at++) {
        if (hex_digit(text.bytes[at]) < 0) return false;
    }
    return true;
}

/* ---- Numbers ---- */

static bool digits(Text *text) {
    if (!is_digit(peek(text))) return false;
    while (is_digit(peek(text))) {
        text->at++;
    }
    return true;
}

/* Parses a number. Sets `fits` if it is an integer in the type's range, written without fraction or
 * exponent and not as -0. */
static bool number(Text *text, const Type *type, bool *fits) {
    bool is_negative = take(text, '-'), is_whole = true;
    uint64_t least = type->least > 0 ? (uint64_t)type->least : 0, most = type->most;
    if (is_negative) {
        least = 1;
        most = type->least < 0 ? 0 - (uint64_t)type->least : 0;
    }
    const uint8_t *start = text->at;
    if (!take(text, '0') && !digits(text)) return false;
    uint64_t whole = 0;
    for (const uint8_t *at = start; at < text->at; at++) {
        uint64_t digit = (uint64_t)(*at - '0');
        is_whole = is_whole && digit <= most && whole <= (most - digit) / 10;
        if (is_whole) whole = whole * 10 + digit;
    }
    if (take(text, '.')) {
        is_whole = false;
        if (!digits(text)) return false;
    }
    if (take(text, 'e') || take(text, 'E')) {
        is_whole = false;
        if (!take(text, '+')) take(text, '-');
        if (!digits(text)) return false;
    }
    *fits = is_whole && whole >= least;
    return true;
}

/* ---- Lists and objects ---- */

static bool list(Text *text, const Type *type) {
    const Type *item = type->kind == LIST ? type->item : &any;
    take(text, '[');
    skip_space(text);
    if (take(text, ']')) return true;
    do {
        if (!value(text, item)) return false;
    } while (take(text, ','));
    return take(text, ']');
}

static int compare(const void *left, const void *right) {
    const String *one = left, *other = right;
    if (one->size != other->size) return one->size < other->size ? -1 : 1;
    return memcmp(one->bytes, other->bytes, one->size);
}

static bool is_key(String text, const char *key) {
    return text.size == strlen(key) && memcmp(text.bytes, key, text.size) == 0;
}

/* Sorts the keys. Returns whether no key is duplicated and no required key is missing. */
static bool are_keys_good(String *keys, size_t count, const Member *member) {
    if (count > 1) qsort(keys, count, sizeof *keys, compare);
    for (size_t k = 1; k < count; k++) {
        if (compare(&keys[k - 1], &keys[k]) == 0) return false;
    }
    for (; member != NULL && member->key != NULL; member++) {
        bool is_there = !member->is_required;
        for (size_t k = 0; k < count && !is_there; k++) {
            is_there = is_key(keys[k], member->key);
        }
        if (!is_there) return false;
    }
    return true;
}

static const Type *type_of(String key, const Member *member) {
    for (; member != NULL && member->key != NULL; member++) {
        if (is_key(key, member->key)) return &member->type;
    }
    return &any;
}

/* Parses the members of an object. */
static bool members(Text *text, const Member *known, String **keys, size_t *count) {
    size_t room = 0;
    do {
        if (*count == room) {
            room = room ? room * 2 : 8;
            *keys = need(realloc(*keys, room * sizeof **keys));
        }
        String *key = &(*keys)[(*count)++];
        skip_space(text);
        if (!string(text, key)) return false;
        skip_space(text);
        if (!take(text, ':') || !value(text, type_of(*key, known))) return false;
    } while (take(text, ','));
    return take(text, '}');
}

static bool object(Text *text, const Type *type) {
    const Member *known = type->kind == OBJECT ? type->members : NULL;
    String *keys = NULL;
    size_t count = 0;
    take(text, '{');
    skip_space(text);
    bool is_good = take(text, '}') || members(text, known, &keys, &count);
    is_good = is_good && are_keys_good(keys, count, known);
    free(keys);
    return is_good;
}

/* ---- Values ---- */

static bool bare_value(Text *text, const Type *type) {
    bool is_any = type->kind == ANY, fits;
    String found;
    switch (peek(text)) {
    case '{': return (is_any || type->kind == OBJECT) && object(text, type);
    case '[': return (is_any || type->kind == LIST) && list(text, type);
    case '"':
        return string(text, &found) &&
               (is_any || type->kind == TEXT || (type->kind == ADDRESS && is_address(found)));
    case 't': return take_word(text, "true") && (is_any || type->kind == BOOLEAN);
    case 'f': return take_word(text, "false") && (is_any || type->kind == BOOLEAN);
    case 'n': return take_word(text, "null") && is_any;
    default:
        return number(text, type, &fits) && (is_any || (type->kind == INTEGER && fits));
    }
}

/* Parses a value and the white space around it. */
static bool value(Text *text, const Type *type) {
    if (text->depth == DEEPEST) return false;
    text->depth++;
    skip_space(text);
    bool fits = bare_value(text, type);
    skip_space(text);
    text->depth--;
    return fits;
}

bool json_fits(const uint8_t *bytes, size_t size, const Type *type) {
    uint8_t *decoded = need(malloc(size + 1));
    Text text = {bytes, bytes + size, decoded, 0};
    bool fits = value(&text, type) && text.at == text.end;
    free(decoded);
    return fits;
}
