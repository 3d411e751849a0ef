#include "plugins/graph/physics/graph_diffusion.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <set>

#include "core/base/key_error.hpp"
#include "core/deck/about_key.hpp"
#include "core/numerics/exact_sum.hpp"

namespace cambium::graph {

void GraphDiffusion::Spots::describe(deck::Describe<Spots>& d) {
  d("nodes", &Spots::nodes, "node indices in the file, or in the order of generation").example("[0, 17]");
  d("hops", &Spots::hops, "number of hops: nodes within this number of edges are included").at_least(0).def(0);
  d("value", &Spots::value, "initial value at these nodes, instead of 'initial'").def(1.0);
}

void GraphDiffusion::Species::describe(deck::Describe<Species>& d) {
  d("name", &Species::name, "also its variable in formulas").example("u");
  d("diffusion", &Species::diffusion, "D: flow along an edge is D times its weight times the difference")
      .non_negative()
      .def(0.0);
  d("reaction", &Species::reaction,
    "reaction rate per unit time: formula of all species, t, the node coordinates x, y, z, and parameters")
      .def("0")
      .example("\"beta*S*I - gamma*I\"");
  d("initial", &Species::initial,
    "initial value: formula of the node coordinates x, y, z, the node index, and parameters")
      .def("0")
      .example("exp(-100*(x^2 + y^2))");
  d("spots", &Species::spots, "nodes that begin with another value");
}

/// True for names that are valid as variables of formulas and as arrays of a file.
static bool is_word(const std::string& name) {
  const auto letter = [](unsigned char c) { return std::isalpha(c) || c == '_'; };
  const auto part = [&](unsigned char c) { return letter(c) || std::isdigit(c); };
  return !name.empty() && letter(name[0]) && std::all_of(name.begin(), name.end(), part);
}

void GraphDiffusion::Params::describe(deck::Describe<Params>& d) {
  using L = Laplacian;
  d("graph", &Params::graph, "nodes and weighted edges");
  d("laplacian", &Params::laplacian,
    "graph Laplacian: combinatorial W - A, or normalised by the sums of weights W, from the left (random_walk) or by "
    "their square roots from both sides (symmetric)")
      .options({{"combinatorial", L::combinatorial}, {"random_walk", L::random_walk}, {"symmetric", L::symmetric}})
      .def(L::combinatorial);
  d("parameters", &Params::parameters, "named constants for the formulas of this stage").variables({}).def({});
  d("species", &Params::species, "species on the nodes").example("[{name: u, diffusion: 1, initial: sin(2*pi*x)}]");
  describe_node_keys(d);
  d.check([](const Params& p) -> std::string {
    if (p.species.empty()) return "'species' is empty; give at least one";
    std::set<std::string> names{"t",     "x",    "y",    "z",    "node",   "pi",
                                "terms", "time", "step", "edge", "weight", "node_number"};
    for (const auto& s : p.species) {
      if (!is_word(s.name))
        return fmt::format("a species cannot be called '{}'; take letters, digits and _, beginning with a letter",
                           s.name);
      if (!names.insert(s.name).second)
        return fmt::format("a species cannot be called '{}': that is the name of something else; give it its own",
                           s.name);
    }
    for (const auto& [name, value] : p.parameters)
      if (names.count(name))
        return fmt::format("a parameter cannot be called '{}': that is the name of something else; give it its own",
                           name);
    return {};
  });
}

namespace {

std::vector<std::string> names_of(const GraphDiffusion::Params& params) {
  std::vector<std::string> out;
  for (const auto& s : params.species) out.push_back(s.name);
  return out;
}

double sum_of(std::span<const double> values) {
  double out = 0.0;
  for (const double v : values) out += v;
  return out;
}

}  // namespace

GraphDiffusion::GraphDiffusion(const Params& params, Context& context)
    : params_(params),
      whole_(std::make_unique<const Network>(deck::about_key(
          "graph_diffusion.graph", "graph", [&] { return make_network(params.graph, context.seed, context.log); }))),
      edges_(whole_->edges()), range_(divided_nodes(whole_->weight, params.partition, context)) {
  // At 0.9 a single-node peak would become negative after a step, with errors of modes up to a half; here they are at
  // most 3e-3.
  if (!params_.courant) params_.courant = 0.2;
  const auto parameters = values_of(params_.parameters);
  auto variables = names_of(params_);
  for (const char* name : {"t", "x", "y", "z"}) variables.push_back(name);
  for (std::size_t k = 0; k < params_.species.size(); ++k) {
    const auto& s = params_.species[k];
    const std::string key = deck::child_path("species", k);
    deck::about_key("graph.formula", deck::joined_key(key, "reaction"),
                    [&] { reactions_.emplace_back(s.reaction, variables, parameters); });
    deck::about_key("graph.formula", deck::joined_key(key, "initial"), [&] {
      initial_.emplace_back(s.initial, std::vector<std::string>{"x", "y", "z", "node"}, parameters);
    });
    reacts_ = reacts_ || s.reaction != "0";
    if (!s.spots) continue;
    for (const auto node : s.spots->nodes)
      if (!whole_->names.node(node))
        throw KeyError(
            "graph_diffusion.spots.node", deck::joined_key(key, "spots.nodes"),
            fmt::format("spots of '{}': there is no node {}, they are {}", s.name, node, whole_->names.range()));
  }
  run_ = std::make_unique<NodeRun>(params_, context, range_, equations(), names_of(params_),
                                   shown_of(*whole_, range_.own()));
}

/// K and M of own nodes; L u = M^-1 K u.
Equations GraphDiffusion::equations() {
  const auto kind = params_.laplacian;
  const auto& weight = whole_->weight;
  std::vector<double> degree;
  for (std::int64_t i = 0; i < weight.rows; ++i) degree.push_back(sum_of(weight.values_of(i)));
  const auto root = [&](std::int64_t i) { return degree[i] > 0.0 ? std::sqrt(degree[i]) : 1.0; };
  const bool symmetric = kind == Laplacian::symmetric;
  Equations out;
  out.stiffness.rows = range_.owned();
  out.stiffness.columns = range_.local();
  for (const auto i : range_.own()) {
    const auto columns = weight.columns_of(i);
    const auto values = weight.values_of(i);
    const auto add = [&](std::int64_t j, double value) {
      out.stiffness.column.push_back(static_cast<std::int32_t>(range_.row_of(j)));
      out.stiffness.value.push_back(symmetric ? value / (root(i) * root(j)) : value);
    };
    bool diagonal = false;
    for (std::size_t e = 0; e < columns.size(); ++e) {
      if (!diagonal && columns[e] > i) {
        add(i, degree[i]);
        diagonal = true;
      }
      add(columns[e], -values[e]);
      largest_eigenvalue_ = std::max(largest_eigenvalue_, degree[i] + degree[columns[e]]);  // Anderson and Morley 1985
    }
    if (!diagonal) add(i, degree[i]);
    out.stiffness.start.push_back(std::ssize(out.stiffness.column));
  }
  largest_eigenvalue_ = range_.comm().max(largest_eigenvalue_);
  if (kind != Laplacian::combinatorial && largest_eigenvalue_ > 0.0) largest_eigenvalue_ = 2.0;
  for (const auto i : range_.own()) {
    out.mass.push_back(kind == Laplacian::random_walk && degree[i] > 0.0 ? degree[i] : 1.0);
    out.kept.push_back(symmetric ? root(i) : 1.0);
  }
  out.parts = components_of(weight, range_.own());
  for (const auto& s : params_.species) out.diffusion.push_back(s.diffusion);
  if (reacts_)
    out.terms = [this](double t, std::span<const double> u, std::span<double> to) { add_reactions(t, u, to); };
  return out;
}

void GraphDiffusion::add_reactions(double t, std::span<const double> u, std::span<double> out) const {
  const std::size_t n = reactions_.size();
  std::vector<double> variables(n + 4);
  variables[n] = t;
  const auto& mass = run_->stepper().equations().mass;
  for (std::int64_t i = 0; i < range_.owned(); ++i) {
    const double* here = u.data() + i * static_cast<std::int64_t>(n);
    std::copy_n(here, n, variables.begin());
    const auto& place = run_->shown().place[i];
    std::copy(place.begin(), place.end(), variables.begin() + static_cast<std::ptrdiff_t>(n) + 1);
    for (std::size_t k = 0; k < n; ++k) out[i * n + k] += mass[i] * reactions_[k](variables);
  }
}

void GraphDiffusion::add_spots(const Spots& spots, std::size_t column) {
  const auto nodes = static_cast<std::size_t>(range_.nodes());
  std::vector<std::int32_t> reached, of_number(nodes);
  std::vector<bool> seen(nodes, false);
  for (std::size_t i = 0; i < nodes; ++i) of_number[whole_->number[i]] = static_cast<std::int32_t>(i);
  for (const auto name : spots.nodes) {
    const auto node = of_number[*whole_->names.node(name)];
    if (!seen[node]) {
      seen[node] = true;
      reached.push_back(node);
    }
  }
  for (std::size_t begin = 0, hop = 0; hop < static_cast<std::size_t>(spots.hops); ++hop) {
    const std::size_t end = reached.size();
    for (; begin < end; ++begin)
      for (const auto j : whole_->weight.columns_of(reached[begin]))
        if (!seen[j]) seen[j] = true, reached.push_back(j);
  }
  for (const auto i : reached)
    if (range_.owns(i))
      run_->stepper().own()[range_.row_of(i) * run_->stepper().columns() + static_cast<std::int64_t>(column)] =
          spots.value;
}

void GraphDiffusion::initialise(State& state, Context&) {
  double* own = run_->stepper().own();
  for (std::size_t k = 0; k < params_.species.size(); ++k) {
    for (std::int64_t i = 0; i < range_.owned(); ++i) {
      const auto& p = run_->shown().place[i];
      own[i * run_->stepper().columns() + static_cast<std::int64_t>(k)] =
          initial_[k]({p[0], p[1], p[2], static_cast<double>(whole_->names.number(run_->shown().number[i]))});
    }
    if (params_.species[k].spots) add_spots(*params_.species[k].spots, k);
  }
  run_->begin(
      state, [this](double t) { return stable_step(t); }, [this] { return all_shown(); });
  forget_whole();
}

/// For diffusion only: the rates of reactions are not known from their formulas.
double GraphDiffusion::stable_step(double) {
  double fastest = 0.0;
  for (const auto& s : params_.species) fastest = std::max(fastest, s.diffusion * largest_eigenvalue_);
  return params_.method == Method::implicit || fastest == 0.0 ? 0.0 : Stepper::real_limit / fastest;
}

std::vector<Observable> GraphDiffusion::observables() const {
  const bool plain = params_.laplacian == Laplacian::combinatorial;
  std::vector<Observable> out;
  for (const auto& s : params_.species) {
    out.push_back({s.name + "_total", "",
                   plain ? "sum over all nodes" : "sum over all nodes, weighted so that diffusion conserves it", true});
    out.push_back({s.name + "_min", "", "smallest value", true});
    out.push_back({s.name + "_max", "", "largest value", true});
    out.push_back({s.name + "_deviation", "", "root mean square distance of the nodes from their mean", false});
  }
  out.push_back({"timestep", "", "length of the next step", false});
  return out;
}

void GraphDiffusion::measure(const State&, Context&, std::span<double> values) {
  const auto& equations = run_->stepper().equations();
  const auto& stepper = run_->stepper();
  const double nodes = static_cast<double>(range_.nodes());
  std::size_t at = 0;
  for (std::int64_t k = 0; k < stepper.columns(); ++k) {
    values[at++] = run_->sum(k, [&](std::int64_t i) { return equations.mass[i] * equations.kept[i]; });
    const auto ends = run_->ends(k);
    values[at++] = ends[0];
    values[at++] = ends[1];
    const double mean = run_->sum(k, [](std::int64_t) { return 1.0; }) / nodes;
    std::vector<double> square;
    for (std::int64_t i = 0; i < range_.owned(); ++i)
      square.push_back(std::pow(stepper.own()[i * stepper.columns() + k] - mean, 2));
    values[at++] = std::sqrt(exact_sum(square, range_.comm()) / nodes);
  }
  values[at] = run_->timestep();
}

std::string GraphDiffusion::summary() const {
  const double stable = params_.method == Method::implicit ? 0.0 : largest_eigenvalue_;
  return fmt::format(
      "graph_diffusion: {} species on {} nodes with {} edges; {} ranks{}; {}", params_.species.size(), range_.nodes(),
      edges_, range_.comm().size(), ranks_text(),
      stable > 0.0 ? fmt::format("explicit steps stable up to {:.3g} / largest diffusion", Stepper::real_limit / stable)
                   : std::string("implicit steps"));
}

std::vector<Citation> GraphDiffusion::citations() const {
  if (auto of_network = run_->citations(); !of_network.empty()) return of_network;
  if (params_.method == Method::implicit)
    return {
        {"ascher1997",
         R"(@article{ascher1997, author={Ascher, U. M. and Ruuth, S. J. and Spiteri, R. J.}, title={Implicit-explicit Runge-Kutta methods for time-dependent partial differential equations}, journal={Appl. Numer. Math.}, volume={25}, pages={151--167}, year={1997}})"}};
  return {
      {"shu1988",
       R"(@article{shu1988, author={Shu, C.-W. and Osher, S.}, title={Efficient implementation of essentially non-oscillatory shock-capturing schemes}, journal={J. Comput. Phys.}, volume={77}, pages={439--471}, year={1988}})"}};
}

/// Six arrays per species; the graph three times, until the run has begun.
void GraphDiffusion::examine(Check& check) {
  const double nodes = static_cast<double>(range_.nodes()), entries = 2.0 * static_cast<double>(edges_);
  const double columns = static_cast<double>(params_.species.size());
  check.memory(fmt::format("{} nodes, {} edges", range_.nodes(), edges_),
               48.0 * nodes * columns / range_.comm().size() + 36.0 * entries + 60.0 * nodes);
  check.effort(1e-6 * (nodes * columns + entries));
  if (!params_.start_from.empty())
    check.require_written_by("start_from", params_.start_from, {{Origin::output, "node_fields"}});
  if (!params_.surrogate.empty()) check.require_written_by("surrogate", params_.surrogate, {{Origin::network}});
}

}  // namespace cambium::graph
