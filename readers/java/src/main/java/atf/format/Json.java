package atf.format;

import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A parser of strict JSON: UTF-8 without a byte-order mark, duplicate keys or lone surrogates. The
 * values are {@link Members}, lists, strings, booleans, and {@link BigInteger} for integers; other
 * numbers are a {@link Double}, and null is {@link #NULL}.
 */
final class Json {
    static final Object NULL = new Object();

    private static final int MAX_DEPTH = 512;
    private static final Pattern NUMBER =
            Pattern.compile("(-?(?:0|[1-9][0-9]*+))((?:\\.[0-9]++)?(?:[eE][+-]?[0-9]++)?)");

    private final String text;
    private int at;
    private int depth;

    private Json(String text) {
        this.text = text;
    }

    /** Text that is not strict JSON, or a value of an unexpected type. */
    static final class Invalid extends Exception {
        private static final long serialVersionUID = 1;

        Invalid(String why) {
            super(why, null, false, false);
        }
    }

    static Object parse(byte[] bytes) throws Invalid {
        try {
            CharBuffer text = StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes));
            Json json = new Json(text.toString());
            Object value = json.value();
            json.space();
            if (json.at < text.length()) {
                throw json.invalid();
            }
            return value;
        } catch (CharacterCodingException error) {
            throw new Invalid("not UTF-8");
        }
    }

    private Invalid invalid() {
        return new Invalid("invalid JSON at character " + at);
    }

    private void space() {
        while (at < text.length() && " \t\r\n".indexOf(text.charAt(at)) >= 0) {
            at++;
        }
    }

    /** Skips space, and then a word if it follows. */
    private boolean accept(String word) {
        space();
        if (!text.startsWith(word, at)) {
            return false;
        }
        at += word.length();
        return true;
    }

    private void expect(String word) throws Invalid {
        if (!accept(word)) {
            throw invalid();
        }
    }

    private Object value() throws Invalid {
        if (++depth > MAX_DEPTH) {
            throw invalid();
        }
        Object value;
        if (accept("{")) {
            value = object();
        } else if (accept("[")) {
            value = list();
        } else if (accept("\"")) {
            value = string();
        } else if (accept("true")) {
            value = true;
        } else if (accept("false")) {
            value = false;
        } else if (accept("null")) {
            value = NULL;
        } else {
            value = number();
        }
        depth--;
        return value;
    }

    private Members object() throws Invalid {
        Map<String, Object> members = new LinkedHashMap<>();
        if (accept("}")) {
            return new Members(members);
        }
        do {
            expect("\"");
            String name = string();
            expect(":");
            if (members.put(name, value()) != null) {
                throw invalid();
            }
        } while (accept(","));
        expect("}");
        return new Members(members);
    }

    private List<Object> list() throws Invalid {
        List<Object> items = new ArrayList<>();
        if (accept("]")) {
            return items;
        }
        do {
            items.add(value());
        } while (accept(","));
        expect("]");
        return items;
    }

    private Object number() throws Invalid {
        Matcher number = NUMBER.matcher(text).region(at, text.length());
        if (!number.lookingAt()) {
            throw invalid();
        }
        at = number.end();
        // -0 is not an integer, nor is a number with many digits, which would be slow to convert.
        boolean isInteger = number.group(2).isEmpty() && !number.group(1).equals("-0");
        if (isInteger && number.group(1).length() <= 20) {
            return new BigInteger(number.group(1));
        }
        return Double.NaN;
    }

    private String string() throws Invalid {
        StringBuilder string = new StringBuilder();
        while (at < text.length()) {
            char own = text.charAt(at++);
            if (own == '"') {
                String result = string.toString();
                if (!StandardCharsets.UTF_8.newEncoder().canEncode(result)) {
                    throw invalid();
                }
                return result;
            } else if (own < ' ') {
                throw invalid();
            }
            string.append(own == '\\' ? escaped() : own);
        }
        throw invalid();
    }

    private char escaped() throws Invalid {
        if (at >= text.length()) {
            throw invalid();
        }
        char own = text.charAt(at++);
        int known = "\"\\/bfnrt".indexOf(own);
        if (known >= 0) {
            return "\"\\/\b\f\n\r\t".charAt(known);
        }
        if (own != 'u' || at + 4 > text.length()) {
            throw invalid();
        }
        int code = 0;
        for (int i = 0; i < 4; i++) {
            char digit = text.charAt(at++);
            if (digit > 'f' || Character.digit(digit, 16) < 0) {
                throw invalid();
            }
            code = code << 4 | Character.digit(digit, 16);
        }
        return (char) code;
    }

    /** Converts a value, or refuses it. */
    interface Converter<T> {
        T of(Object value) throws Invalid;
    }

    /** An object, whose members are converted to the expected types. */
    record Members(Map<String, Object> all) {
        <T> Optional<T> get(String name, Converter<T> converter) throws Invalid {
            Object value = all.get(name);
            try {
                return value == null ? Optional.empty() : Optional.of(converter.of(value));
            } catch (Invalid invalid) {
                throw new Invalid(name + ": " + invalid.getMessage());
            }
        }

        <T> T require(String name, Converter<T> converter) throws Invalid {
            return get(name, converter).orElseThrow(() -> new Invalid(name + " is missing"));
        }
    }

    private static <T> T expect(Class<T> type, String what, Object value) throws Invalid {
        if (!type.isInstance(value)) {
            throw new Invalid("expected " + what);
        }
        return type.cast(value);
    }

    static Members object(Object value) throws Invalid {
        return expect(Members.class, "an object", value);
    }

    static String text(Object value) throws Invalid {
        return expect(String.class, "a string", value);
    }

    static Boolean bool(Object value) throws Invalid {
        return expect(Boolean.class, "true or false", value);
    }

    static Long hex(Object value) throws Invalid {
        String text = text(value);
        if (!text.matches("0x[0-9a-fA-F]{1,16}")) {
            throw new Invalid("expected a number in hex");
        }
        return Long.parseUnsignedLong(text, 2, text.length(), 16);
    }

    static Converter<Long> integer(String minimum, String maximum) {
        return value -> {
            BigInteger number = expect(BigInteger.class, "an integer", value);
            if (number.compareTo(new BigInteger(minimum)) < 0
                    || number.compareTo(new BigInteger(maximum)) > 0) {
                throw new Invalid("expected a number from " + minimum + " to " + maximum);
            }
            return number.longValue();
        };
    }

    static <T> Converter<List<T>> list(Converter<T> item) {
        return value -> {
            List<T> items = new ArrayList<>();
            for (Object own : expect(List.class, "a list", value)) {
                items.add(item.of(own));
            }
            return List.copyOf(items);
        };
    }
}
