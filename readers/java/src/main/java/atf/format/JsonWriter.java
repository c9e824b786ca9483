package atf.format;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.OptionalLong;
import java.util.stream.Collectors;

/** Writes a JSON object. */
final class JsonWriter {
    private final StringBuilder json = new StringBuilder();

    void put(String name, String value) {
        json.append(json.length() == 0 ? "{\"" : ",\"").append(name).append("\":").append(value);
    }

    void number(String name, long value) {
        put(name, Long.toUnsignedString(value));
    }

    void text(String name, long value) {
        put(name, '"' + Long.toUnsignedString(value) + '"');
    }

    void texts(String name, long[] values) {
        put(name, Arrays.stream(values)
                .mapToObj(value -> '"' + Long.toUnsignedString(value) + '"')
                .collect(Collectors.joining(",", "[", "]")));
    }

    void numbers(String name, int[] values) {
        put(name, Arrays.toString(values).replace(" ", ""));
    }

    void numbers(String name, long[] values) {
        put(name, Arrays.toString(values).replace(" ", ""));
    }

    void position(String name, OptionalLong value) {
        value.ifPresentOrElse(own -> text(name, own), () -> put(name, "null"));
    }

    void hex(String name, ByteBuffer value) {
        byte[] bytes = new byte[value.remaining()];
        value.get(value.position(), bytes);
        hex(name, bytes);
    }

    void hex(String name, byte[] bytes) {
        put(name, '"' + HexFormat.of().formatHex(bytes) + '"');
    }

    String end() {
        return json.append('}').toString();
    }
}
