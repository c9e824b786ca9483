#include <stddef.h>
#include <stdint.h>

{% include "macros.h" %}
#pragma pack(push, 1)

{% include "record.h" %}

#pragma pack(pop)
#undef ATF_LAYOUT_PACKED
#undef ATF_LAYOUT_ASSERT
#undef ATF_LAYOUT_SIZEOF
#undef ATF_LAYOUT_RECORD
#undef ATF_LAYOUT_FIELD
