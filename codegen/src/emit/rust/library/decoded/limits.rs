//! Emits the checks for values that are too large for a wire version.

use super::*;

impl Decoded<'_> {
    /// Emits the check that all values fit into a wire version, unless they always fit.
    pub(super) fn check_fits(&self) -> Option<TokenStream> {
        let checks = |&wire: &Wire| {
            let fields = self.fields.iter();
            let checks = fields.filter_map(|member| self.limit(member, wire));
            (wire, checks.collect::<Vec<_>>())
        };
        let arms: Vec<_> = self.layout.wires.iter().map(checks).collect();
        if arms.iter().all(|(_, checks)| checks.is_empty()) {
            return None;
        }
        let arms = arms.into_iter().map(|(wire, checks)| {
            let variant = format_ident!("V{wire}");
            quote!(Wire::#variant => { #(#checks)* })
        });
        let (parameter, chosen) = self.chosen_wire();
        Some(quote! {
            /// Checks that the wire version has enough bits for each value.
            pub(crate) fn check_fits(&self #parameter) -> Result<(), OutOfRange> {
                match #chosen { #(#arms)* }
                Ok(())
            }
        })
    }

    /// Emits the check for one value, if the version cannot hold every value of the decoded type.
    fn limit(&self, member: &Member<'_>, wire: Wire) -> Option<TokenStream> {
        let field = self.field_in(wire, member)?;
        let widest = self.widest(member);
        if widest == field.ty.scalar && field.none.is_none() {
            return None;
        }
        let max = field
            .none
            .map_or(field.ty.scalar.max(), |none| none.saturating_sub(1));
        let max = Literal::u64_unsuffixed(max);
        let name = member.ident();
        let label = if self.is_header() {
            format!("header.{}", field.key())
        } else if self.record.name.ends_with("footer") {
            format!("footer.{}", field.key())
        } else {
            field.key().to_owned()
        };
        let (binding, value) = if member.is_option() {
            (Some(quote!(let Some(value) = self.#name &&)), quote!(value))
        } else {
            (None, quote!(self.#name))
        };
        let value = if widest == Scalar::U64 && field.enumeration.is_none() {
            value
        } else {
            quote!(u64::from(#value))
        };
        Some(quote! {
            if #binding #value > #max {
                return Err(OutOfRange { field: #label, found: #value, max: #max });
            }
        })
    }
}
