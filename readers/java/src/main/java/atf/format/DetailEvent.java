package atf.format;

import atf.format.Records.DetailEventHeader;
import atf.format.Records.DetailFunctionPayload;
import java.nio.ByteBuffer;
import java.util.Optional;

/** A detail event: its header and its payload. */
public final class DetailEvent {
    private final DetailFile file;
    private final long at;
    private final long end;
    private final boolean hasFunction;

    DetailEvent(DetailFile file, long at, long end, boolean hasFunction) {
        this.file = file;
        this.at = at;
        this.end = end;
        this.hasFunction = hasFunction;
    }

    /** Returns the header. */
    public DetailEventHeader header() {
        return new DetailEventHeader(file.source().buffer(at), Source.position(at), file.wire());
    }

    /** Returns the payload's offset in the file. */
    public long payloadOffset() {
        return at + DetailEventHeader.SIZE;
    }

    /** Returns the payload's size in bytes, up to 4 GiB. */
    public long payloadSize() {
        return end - payloadOffset();
    }

    /**
     * Returns a view of the payload.
     *
     * @throws IndexOutOfBoundsException if it is larger than 1 GiB: use {@link Source#slice}.
     */
    public ByteBuffer payload() {
        return file.source().slice(payloadOffset(), payloadSize());
    }

    /** Returns the captured registers and stack, unless the payload has a different length. */
    public Optional<Function> function() {
        return hasFunction ? Optional.of(new Function()) : Optional.empty();
    }

    /** Returns the fields of the header, "payload" in hex, and "function" or null, as JSON. */
    @Override
    public String toString() {
        JsonWriter json = new JsonWriter();
        header().write(json);
        json.hex("payload", payload());
        json.put("function", hasFunction ? new Function().toString() : "null");
        return json.end();
    }

    /** The registers and the stack that a detail event captured. */
    public final class Function {
        private Function() {}

        /** Returns the registers. */
        public DetailFunctionPayload registers() {
            long offset = payloadOffset();
            return new DetailFunctionPayload(
                    file.source().buffer(offset), Source.position(offset), file.wire());
        }

        /**
         * Returns a view of the captured part of the stack, starting at the stack pointer.
         *
         * @throws IndexOutOfBoundsException if it is larger than 1 GiB: use {@link Source#slice}.
         */
        public ByteBuffer stack() {
            long offset = payloadOffset() + DetailFunctionPayload.SIZE;
            return file.source().slice(offset, end - offset);
        }

        /** Returns the registers, and "stack" in hex, as JSON. */
        @Override
        public String toString() {
            JsonWriter json = new JsonWriter();
            registers().write(json);
            json.hex("stack", stack());
            return json.end();
        }
    }
}
