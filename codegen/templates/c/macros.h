/* GCC and Clang pack with the attribute, MSVC with the pragma. */
#if defined(__GNUC__) || defined(__clang__)
#define ATF_LAYOUT_PACKED __attribute__((packed))
#else
#define ATF_LAYOUT_PACKED
#endif

#ifdef __cplusplus
#define ATF_LAYOUT_ASSERT(condition, message) static_assert(condition, message)
#define ATF_LAYOUT_SIZEOF(type, field) sizeof(type::field)
#else
#define ATF_LAYOUT_ASSERT(condition, message) _Static_assert(condition, message)
#define ATF_LAYOUT_SIZEOF(type, field) sizeof(((type *)0)->field)
#endif

/* Checks each record's size and each field's offset and size against the layout. */
#define ATF_LAYOUT_RECORD(record, type, size, wire)                                             \
    ATF_LAYOUT_ASSERT(sizeof(type) == size,                                                     \
                      #record " (" #type ") must be " #size " bytes in wire version " #wire)

#define ATF_LAYOUT_FIELD(record, type, field, offset, size, wire)                               \
    ATF_LAYOUT_ASSERT(offsetof(type, field) == offset,                                          \
                      #record "." #field " (" #type ") must be at offset " #offset              \
                      " in wire version " #wire);                                               \
    ATF_LAYOUT_ASSERT(ATF_LAYOUT_SIZEOF(type, field) == size,                                   \
                      #record "." #field " (" #type ") must be " #size                          \
                      " bytes in wire version " #wire)

