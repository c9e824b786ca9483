#include <stddef.h>
#include <stdint.h>

{% include "macros.h" %}
#pragma pack(push, 1)

{% include "record.h" %}

{% include "undef.h" %}
