/**
 * {{ (record.title ~ " of " ~ record.file ~ " in wire version " ~ record.wire ~ ", " ~ record.size ~ " bytes.") | wrap(" * ") }}
 * {{ record.doc | wrap(" * ") }}
{% if record.followed_by %}
 * {{ ("Followed by: " ~ record.followed_by) | wrap(" * ") }}
{% endif %}
 */
typedef struct ATF_LAYOUT_PACKED {{ record.c_type }} {
{% for field in record.fields %}
    /**
     * {{ field.doc | wrap("     * ") }}
     * {{ field.facts | wrap("     * ") }}
     */
    {{ field.c_type }} {{ field.name }}{{ "[" ~ field.count ~ "]" if field.count else "" }};
{% if not loop.last %}

{% endif %}
{% endfor %}
} {{ record.c_type }};

ATF_LAYOUT_RECORD({{ record.name }}, {{ record.c_type }}, {{ record.size }}, {{ record.wire }});
{% for field in record.fields %}
ATF_LAYOUT_FIELD({{ record.name }}, {{ record.c_type }}, {{ field.name }}, {{ field.offset }}, {{ field.size }}, {{ record.wire }});
{% endfor %}
