package atf.format;

import java.io.IOException;

/** A file that cannot be read: the place of the error, and what was expected there. */
public final class FormatException extends IOException {
    private static final long serialVersionUID = 1;

    private final String file;
    private final long offset;
    private final String field;
    private final String expected;
    private final String rule;

    FormatException(String file, long offset, String field, String expected, String rule) {
        super("%s: byte %d, %s: expected %s (%s)".formatted(file, offset, field, expected, rule));
        this.file = file;
        this.offset = offset;
        this.field = field;
        this.expected = expected;
        this.rule = rule;
    }

    /** Returns the file's name. */
    public String file() {
        return file;
    }

    /** Returns the offset of the error in bytes. */
    public long offset() {
        return offset;
    }

    /** Returns the invalid field, such as "index footer, checksum". */
    public String field() {
        return field;
    }

    /** Returns a description of the value that was expected there. */
    public String expected() {
        return expected;
    }

    /** Returns the rule that the file breaks, such as "ATF-IFTR-004". */
    public String rule() {
        return rule;
    }
}
