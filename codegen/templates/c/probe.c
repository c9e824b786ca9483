/* {{ generated }} */
/*
 * Prints the compiler's layout of atf_wire.h, one item per line:
 *   v1 index_header 64              a record and its size
 *   v1 index_header.flags 8 4       a field, its offset and size
 *   ATF_ARCH_ARM64 2                a constant and its value
 */
#include <stdio.h>

#include "atf_wire.h"

#define RECORD(wire, record, type) printf("v%d %s %zu\n", wire, #record, sizeof(type))
#define FIELD(wire, record, type, field)                                                        \
    printf("v%d %s.%s %zu %zu\n", wire, #record, #field, offsetof(type, field),                 \
           sizeof(((type *)0)->field))
#define NUMBER(name) printf("%s %llu\n", #name, (unsigned long long)(name))
#define STRING(name) printf("%s %s\n", #name, name)

int main(void) {
{% for version in wires %}
{% for record in version.records %}
    RECORD({{ record.wire }}, {{ record.name }}, {{ record.c_type }});
{% for field in record.fields %}
    FIELD({{ record.wire }}, {{ record.name }}, {{ record.c_type }}, {{ field.name }});
{% endfor %}
{% endfor %}
{% endfor %}
{% for constant in constants %}
    NUMBER({{ constant.name }});
{% endfor %}
{% for enum in enums %}
{% for member in enum.members %}
    NUMBER({{ member.name }});
{% endfor %}
{% endfor %}
{% for version in wires %}
{% for constant in version.constants %}
    NUMBER({{ constant.name }});
{% endfor %}
{% for record in version.records %}
    NUMBER({{ record.size_macro }});
{% for field in record.fields %}
{% if field.number %}
    NUMBER({{ field.names.value }});
{% elif field.string %}
    STRING({{ field.names.value }});
{% endif %}
{% endfor %}
{% endfor %}
{% endfor %}
    return 0;
}
