/* {{ (record.title ~ ".") | wrap(" * ") }} */
{% for field in record.fields if field.element_size > 1 %}
{% if field.count %}
/** {{ field.name }}[i], where i is less than {{ field.count }}. */
static inline {{ field.c_type }} {{ field.names.get }}(
    const {{ record.c_type }} *record, size_t i) {
    return atf_load_u{{ field.bits }}(
        record, offsetof({{ record.c_type }}, {{ field.name }}) + i * {{ field.element_size }}u);
}
static inline void {{ field.names.set }}(
    {{ record.c_type }} *record, size_t i, {{ field.c_type }} value) {
    atf_store_u{{ field.bits }}(
        record, offsetof({{ record.c_type }}, {{ field.name }}) + i * {{ field.element_size }}u, value);
}
{% else %}
static inline {{ field.c_type }} {{ field.names.get }}(
    const {{ record.c_type }} *record) {
    return atf_load_u{{ field.bits }}(record, offsetof({{ record.c_type }}, {{ field.name }}));
}
static inline void {{ field.names.set }}(
    {{ record.c_type }} *record, {{ field.c_type }} value) {
    atf_store_u{{ field.bits }}(record, offsetof({{ record.c_type }}, {{ field.name }}), value);
}
{% endif %}
{% endfor %}
