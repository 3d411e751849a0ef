#include "plugins/kinetic/physics/vlasov_maxwell.hpp"

#include "core/deck/about_key.hpp"

namespace cambium::kinetic {

void VlasovMaxwell::FieldParams::describe(deck::Describe<FieldParams>& d) {
  d("E", &FieldParams::E, "initial electric field: formulas in x, y, z for its components, as many as needed").def({});
  d("B", &FieldParams::B, "initial magnetic field").def({});
  d("light_speed", &FieldParams::light_speed, "speed of light").positive().def(1.0);
  d("epsilon0", &FieldParams::epsilon0, "permittivity of free space").positive().def(1.0);
  d("clean_electric", &FieldParams::clean_electric,
    "speed of the divergence cleaning of E (Gauss' law), in units of light; 0 switches it off")
      .non_negative()
      .def(0.0);
  d("clean_magnetic", &FieldParams::clean_magnetic,
    "speed of the divergence cleaning of B, in units of light; 0 switches it off")
      .non_negative()
      .def(0.0);
  d("flux", &FieldParams::flux,
    "numerical flux between cells: central (conserves energy) or upwind (damps); at walls that absorb or copy it is "
    "always upwind, so "
    "that waves leave")
      .options({{"central", Flux::central}, {"upwind", Flux::upwind}})
      .def(Flux::central);
  d.check([](const FieldParams& f) -> std::string {
    return f.E.size() > 3 || f.B.size() > 3 ? "a field has three components" : "";
  });
}

void VlasovMaxwell::Params::describe(deck::Describe<Params>& d) {
  describe_common(d);
  describe_fluids(d);
  d("fields", &Params::fields, "electromagnetic field");
  d("external", &Params::external, "external fields, added to those of the particles");
  d("background", &Params::background, "charge density of an immobile background (formula in x, y, z), for cleaning")
      .def("");
}

VlasovMaxwell::VlasovMaxwell(const Params& params, Context& context) : Vlasov(params, context) {
  const auto& f = params.fields;
  const ConfGrid& conf = plasma_.conf();
  plasma_.set_background(params.background);
  Maxwell::Options options{
      f.light_speed, f.epsilon0, f.clean_electric, f.clean_magnetic, f.flux == FieldParams::Flux::upwind, true};
  auto maxwell = std::make_unique<Maxwell>(conf, options, plasma_.several_ranks(),
                                           ConfHalo(plasma_.species().front()->solver().grid(), conf, context.comm));
  for (const auto* list : {&f.E, &f.B})
    for (std::size_t c = 0; c < list->size(); ++c) {
      const std::string key = deck::child_path(list == &f.E ? "fields.E" : "fields.B", c);
      const auto formula = deck::about_key("kinetic.formula", key, [&] {
        return Formula((*list)[c], conf_variables(conf.dimensions), params.values());
      });
      maxwell->values(static_cast<Maxwell::Component>((list == &f.E ? Maxwell::Ex : Maxwell::Bx) + c)) =
          project_conf(conf, formula, 0.0);
    }
  const FieldFormulas initial{f.E, f.B};
  deck::about_key("kinetic.formula", "fields", [&] {
    return ExternalField(conf, initial, params.values());
  }).warn_of_unfelt(plasma_.charged(), context.log);
  plasma_.set_fields(std::move(maxwell), f.epsilon0);
  plasma_.set_external(params.external);
}

}  // namespace cambium::kinetic
