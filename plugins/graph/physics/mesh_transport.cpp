#include "plugins/graph/physics/mesh_transport.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/key_error.hpp"
#include "core/deck/about_key.hpp"
#include "core/numerics/exact_sum.hpp"

namespace cambium::graph {

void MeshTransport::Params::describe(deck::Describe<Params>& d) {
  d("mesh", &Params::mesh, "triangles");
  d("parameters", &Params::parameters, "named constants for the formulas of this stage").variables({}).def({});
  d("velocity", &Params::velocity, "flow velocity along x and y, two formulas of x, y, t; it should be divergence-free")
      .def({})
      .example("[\"-y\", x]");
  d("stream", &Params::stream,
    "or its stream function psi, a formula of x, y, t: u = d psi/dy, v = -d psi/dx; then a uniform c stays so exactly")
      .example("sin(pi*x)*sin(pi*y)");
  d("diffusivity", &Params::diffusivity, "kappa, a formula of x and y, taken at the middle of each triangle")
      .def("0")
      .example("1e-3");
  d("source", &Params::source, "source rate per unit time, a formula of x, y, t and c").def("0").example("-0.1*c");
  d("initial", &Params::initial, "c at the start, a formula of x and y")
      .def("0")
      .example("exp(-50*((x - 0.5)^2 + y^2))");
  d("boundaries", &Params::boundaries, "boundary conditions by name; default: a closed wall")
      .def({})
      .example("{left: {value: 1}, right: {outflow: true}}");
  d("advection", &Params::advection,
    "advection scheme: linear (second order), limited (second order, with almost no new extrema) or upwind (first "
    "order)")
      .options({{"linear", Advection::linear}, {"limited", Advection::limited}, {"upwind", Advection::upwind}})
      .def(Advection::linear);
  d("exact", &Params::exact, "a solution to compare with, a formula of x, y, t: adds the observable error");
  describe_node_keys(d);
  d.check([](const Params& p) -> std::string {
    for (const char* name : {"x", "y", "t", "c", "pi"})
      if (p.parameters.count(name))
        return fmt::format("a parameter cannot be called '{}': that is the name of something else; give it its own",
                           name);
    if (!p.velocity.empty() && p.velocity.size() != 2) return "'velocity' needs two formulas, along x and along y";
    return !p.velocity.empty() && p.stream ? "'velocity' and 'stream' exclude each other; leave one out" : "";
  });
}

namespace {

Formula formula_of(const std::string& key, const std::string& text, const std::vector<std::string>& variables,
                   const std::map<std::string, double>& parameters) {
  return deck::about_key("graph.formula", key, [&] { return Formula(text, variables, parameters); });
}

/// kappa of a deck; negative values are an error.
std::function<double(Point)> kappa_of(const std::string& text, const std::map<std::string, double>& parameters) {
  return [formula = formula_of("diffusivity", text, {"x", "y"}, parameters)](Point p) {
    const double kappa = formula({p[0], p[1]});
    if (!(kappa >= 0.0) || !std::isfinite(kappa))
      throw KeyError("mesh_transport.diffusivity.negative", "diffusivity",
                     fmt::format("diffusivity: '{}' is {:g} at x = {:.4g}, y = {:.4g}; it must be 0 or more",
                                 formula.text(), kappa, p[0], p[1]));
    return kappa;
  };
}

}  // namespace

MeshTransport::MeshTransport(const Params& params, Context& context)
    : params_(params), context_(context), parameters_(values_of(params.parameters)),
      whole_(std::make_unique<const Triangles>(deck::about_key(
          "mesh_transport.mesh", "mesh", [&] { return make_mesh(params.mesh, context.seed, context.log); }))),
      triangles_(whole_->triangles()), sides_(std::ssize(whole_->boundary)), tags_(whole_->tags),
      range_(divided_nodes(pattern_of(*whole_), params.partition, context)),
      cells_(dual_cells(*whole_, range_, kappa_of(params.diffusivity, parameters_))),
      advection_(cells_, range_, flow(parameters_), params.advection),
      boundaries_(params.boundaries, *whole_, cells_, range_, parameters_),
      source_(formula_of("source", params.source, {"x", "y", "t", "c"}, parameters_)),
      initial_(formula_of("initial", params.initial, {"x", "y"}, parameters_)) {
  if (params.exact) exact_ = formula_of("exact", *params.exact, {"x", "y", "t"}, parameters_);
  run_ = std::make_unique<NodeRun>(params_, context, range_, equations(), std::vector<std::string>{"c"},
                                   shown_of(*whole_, range_.own()));
}

Flow MeshTransport::flow(const std::map<std::string, double>& parameters) const {
  Flow out;
  const std::vector<std::string> variables{"x", "y", "t"};
  for (std::size_t k = 0; k < params_.velocity.size(); ++k)
    out.velocity.push_back(formula_of(deck::child_path("velocity", k), params_.velocity[k], variables, parameters));
  if (params_.stream) out.stream = formula_of("stream", *params_.stream, variables, parameters);
  for (const auto& formula : out.velocity) out.moves = out.moves || formula.names("t");
  out.moves = out.moves || (out.stream && out.stream->names("t"));
  return out;
}

Equations MeshTransport::equations() {
  Equations out;
  out.stiffness = cells_.stiffness;
  out.mass = cells_.area;
  out.kept.assign(cells_.area.size(), 1.0);
  out.parts = components_of(pattern_of(*whole_), range_.own());
  out.diffusion = {1.0};
  out.fixed = boundaries_.fixed();
  out.terms = [this](double t, std::span<const double> c, std::span<double> to) { add_terms(t, c, to); };
  if (!out.fixed.empty()) out.hold = [this](double t, std::span<double> c) { boundaries_.hold(t, c); };
  for (std::int64_t i = 0; i < range_.owned(); ++i) {
    double sum = 0.0;  // Gershgorin
    for (const double k : out.stiffness.values_of(i)) sum += std::abs(k);
    fastest_diffusion_ = std::max(fastest_diffusion_, sum / cells_.area[i]);
  }
  fastest_diffusion_ = context_.comm.max(fastest_diffusion_);
  return out;
}

void MeshTransport::add_terms(double t, std::span<const double> c, std::span<double> out) {
  advection_.set_time(t);
  advection_.add(c, out);
  boundaries_.add(t, c, advection_.outflow(), out);
  if (params_.source == "0") return;
  for (std::int64_t i = 0; i < range_.owned(); ++i)
    out[i] += cells_.area[i] * source_({cells_.place[i][0], cells_.place[i][1], t, c[i]});
}

void MeshTransport::initialise(State& state, Context&) {
  for (std::int64_t i = 0; i < range_.owned(); ++i)
    run_->stepper().own()[i] = initial_({cells_.place[i][0], cells_.place[i][1]});
  run_->begin(
      state, [this](double t) { return stable_step(t); }, [this] { return all_shown(); });
  forget_whole();
  warn_of_walls();
}

void MeshTransport::warn_of_walls() {
  const double through = boundaries_.flow_through_walls(advection_.outflow());
  double most = 0.0;
  for (const double flow : advection_.outflow()) most = std::max(most, std::abs(flow));
  double longest = 0.0;
  for (const auto& half : cells_.sides)
    longest = std::max(longest, std::hypot(half.to[0] - half.from[0], half.to[1] - half.from[1]));
  longest = context_.comm.max(longest);
  const double rate = advection_.courant_rate();
  double size = 0.0;  // magnitude of a flow along a wall, for comparison
  for (const double area : cells_.area) size = std::max(size, area * rate);
  if (through > 1e-3 * context_.comm.max(size))
    context_.log.warn(
        "the flow crosses closed walls, or enters where 'outflow' is set: c accumulates there and is depleted "
        "elsewhere; give those parts of the boundary a 'value' or 'outflow'");
}

/// Courant number 1 if only the flow limits the step, 2.51 over the largest eigenvalue if only diffusion does.
double MeshTransport::stable_step(double t) {
  advection_.set_time(t);
  const double flow = advection_.courant_rate();
  if (std::isinf(flow))
    throw KeyError("mesh_transport.flow.finite", params_.stream ? "stream" : "velocity",
                   fmt::format("the flow is not finite everywhere at t = {:g}; correct '{}'", t,
                               params_.stream ? "stream" : "velocity"));
  const bool implicit = params_.method == Method::implicit;
  const double rate = implicit ? flow / 0.6 : flow + fastest_diffusion_ / Stepper::real_limit;
  return rate > 0.0 ? 1.0 / rate : 0.0;
}

std::vector<Observable> MeshTransport::observables() const {
  std::vector<Observable> out{{"total", "", "integral of c", true},
                              {"c_min", "", "smallest value", true},
                              {"c_max", "", "largest value", true},
                              {"variance", "", "mean square distance from the mean", true}};
  if (exact_) out.push_back({"error", "", "root mean square distance from 'exact'", true});
  out.push_back({"timestep", "", "length of the next step", false});
  return out;
}

void MeshTransport::measure(const State& state, Context&, std::span<double> values) {
  const auto area = [&](std::int64_t i) { return cells_.area[i]; };
  const auto& stepper = run_->stepper();
  const double whole = exact_sum(cells_.area, context_.comm), total = run_->sum(0, area), mean = total / whole;
  const auto ends = run_->ends(0);
  std::size_t at = 0;
  values[at++] = total;
  values[at++] = ends[0];
  values[at++] = ends[1];
  std::vector<double> square, wrong;
  for (std::int64_t i = 0; i < range_.owned(); ++i) {
    const double c = stepper.own()[i];
    square.push_back(cells_.area[i] * (c - mean) * (c - mean));
    if (!exact_) continue;
    const double error = c - (*exact_)({cells_.place[i][0], cells_.place[i][1], state.time});
    wrong.push_back(cells_.area[i] * error * error);
  }
  values[at++] = exact_sum(square, context_.comm) / whole;
  if (exact_) values[at++] = std::sqrt(exact_sum(wrong, context_.comm) / whole);
  values[at] = run_->timestep();
}

std::string MeshTransport::summary() const {
  return fmt::format("mesh_transport: {} triangles, {} nodes, {} edges of the boundary{}; {} ranks{}", triangles_,
                     range_.nodes(), sides_,
                     tags_.empty() ? std::string() : fmt::format(" ({})", fmt::join(tags_, ", ")), context_.comm.size(),
                     ranks_text());
}

std::int64_t MeshTransport::bytes() const {
  return run_->bytes() + cells_.bytes() + advection_.bytes() + boundaries_.bytes() + (whole_ ? whole_->bytes() : 0);
}

std::vector<Citation> MeshTransport::citations() const {
  if (auto of_network = run_->citations(); !of_network.empty()) return of_network;
  std::vector<Citation> out{
      {"barth1989",
       R"(@inproceedings{barth1989, author={Barth, T. J. and Jespersen, D. C.}, title={The design and application of upwind schemes on unstructured meshes}, booktitle={27th Aerospace Sciences Meeting}, note={AIAA 89-0366}, year={1989}})"}};
  if (params_.method == Method::implicit)
    out.push_back(
        {"ascher1997",
         R"(@article{ascher1997, author={Ascher, U. M. and Ruuth, S. J. and Spiteri, R. J.}, title={Implicit-explicit Runge-Kutta methods for time-dependent partial differential equations}, journal={Appl. Numer. Math.}, volume={25}, pages={151--167}, year={1997}})"});
  return out;
}

void MeshTransport::examine(Check& check) {
  const double nodes = static_cast<double>(range_.nodes()), triangles = static_cast<double>(triangles_);
  check.memory(fmt::format("{} triangles", triangles_), 60.0 * triangles + 900.0 * nodes / context_.comm.size());
  check.effort(3e-6 * triangles);
  if (!params_.start_from.empty())
    check.require_written_by("start_from", params_.start_from, {{Origin::output, "node_fields"}});
  if (!params_.surrogate.empty()) check.require_written_by("surrogate", params_.surrogate, {{Origin::network}});
}

}  // namespace cambium::graph
