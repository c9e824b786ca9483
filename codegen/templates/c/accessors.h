/* {{ record.title }}. */
{% for field in record.fields if field.element_size > 1 %}
{% set prefix = version.prefix ~ record.name %}
{% if field.count %}
/** {{ field.name }}[i], where i is less than {{ field.count }}. */
static inline {{ field.c_type }} {{ prefix }}_get_{{ field.stem }}(
    const {{ record.c_type }} *record, size_t i) {
    return atf_load_u{{ field.bits }}(
        record, offsetof({{ record.c_type }}, {{ field.name }}) + i * {{ field.element_size }}u);
}
static inline void {{ prefix }}_set_{{ field.stem }}(
    {{ record.c_type }} *record, size_t i, {{ field.c_type }} value) {
    atf_store_u{{ field.bits }}(
        record, offsetof({{ record.c_type }}, {{ field.name }}) + i * {{ field.element_size }}u, value);
}
{% else %}
static inline {{ field.c_type }} {{ prefix }}_get_{{ field.stem }}(
    const {{ record.c_type }} *record) {
    return atf_load_u{{ field.bits }}(record, offsetof({{ record.c_type }}, {{ field.name }}));
}
static inline void {{ prefix }}_set_{{ field.stem }}(
    {{ record.c_type }} *record, {{ field.c_type }} value) {
    atf_store_u{{ field.bits }}(record, offsetof({{ record.c_type }}, {{ field.name }}), value);
}
{% endif %}
{% endfor %}
