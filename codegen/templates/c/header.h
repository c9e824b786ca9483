/* {{ generated }} */
/**
{% if rivals %}
 * The records of ATF v2 (ADA Trace Format), a binary format for function traces, in wire
 * version {{ wires[0].wire }}, with the names from the source documents.
{% else %}
 * The records of ATF v2 (ADA Trace Format), a binary format for function traces, in every wire
 * version, side by side. The header's member `version` identifies a file's wire version.
{% endif %}
 *
 * The format is little-endian only. The structs have the same layout on every host, but on a
 * big-endian host their members of two bytes or more have wrong values. The accessors at the
 * end work on every host and at any address:
{% for version in wires %}
 *     {{ version.prefix }}<record>_get_<member>, {{ version.prefix }}<record>_set_<member>
{% endfor %}
 * The structs are packed: do not take a pointer to a member of two bytes or more.
 *
 * Sources, cited in brackets:
{% for source in sources %}
 *     {{ (source.id ~ ": " ~ source.title ~ " (wire version " ~ source.wire ~ ")") | wrap(" *         ") }}
{% endfor %}
 */
{% if rivals %}
#if defined({{ rivals | join(") || defined(") }})
#error "Another wire version has the same names: for both, include atf_wire.h instead"
#elif !defined({{ guard }})
{% else %}
#ifndef {{ guard }}
{% endif %}
#define {{ guard }}

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

{% include "shared.h" %}
{% for version in wires %}

/* ---- Wire version {{ version.wire }}: constants ---- */
{% for constant in version.constants %}

/** {{ (constant.doc ~ " " ~ constant.sources) | wrap(" *  ") }} */
#define {{ constant.name }} {{ constant.value }}
{% endfor %}
{% for record in version.records %}

/* {{ (record.title ~ " of " ~ record.file ~ ": size in bytes, values.") | wrap(" * ") }} */
#define {{ record.size_macro }} {{ record.size }}u
{% for field in record.fields %}
{% if field.number %}
#define {{ field.names.value }} {{ field.number }}
{% elif field.string %}
#define {{ field.names.value }} {{ field.string }}
#define {{ field.names.init }} {{ field.initialiser }}
{% endif %}
{% if field.max %}
#define {{ field.names.max }} {{ field.max }}
{% endif %}
{% endfor %}
{% endfor %}
{% endfor %}

{% include "macros.h" %}
#pragma pack(push, 1)
{% for version in wires %}

/* ---- Wire version {{ version.wire }}: records ---- */
{% for record in version.records %}

{% include "record.h" %}
{% endfor %}
{% endfor %}

{% include "undef.h" %}
{% for version in wires %}

/* ---- Wire version {{ version.wire }}: accessors ---- */
{% for record in version.records %}

{% include "accessors.h" %}
{% endfor %}
{% endfor %}

#ifdef __cplusplus
}
#endif

#endif
