// The same bits on any number of ranks and after a restart.
#include <fstream>
#include <map>

#include "core/parallel/random.hpp"
#include "tests/plugins/graph/node_case.hpp"
#include "tests/shared_scratch.hpp"

using namespace cambium;
using namespace cambium::graph;
using namespace cambium::graph::test;

namespace {

std::string reacting(const char* method, double end = 16.0) {
  return fmt::format(
      "{{graph: {{random: {{nodes: 400, degree: 8, weight: exp(-2*d^2)}}}}, parameters: {{F: 0.04, k: 0.06}}, species: "
      "[{{name: "
      "u, diffusion: 0.16, initial: 1, reaction: -u*v^2 + F*(1 - u)}}, {{name: v, diffusion: 0.08, initial: 0.1*x, "
      "reaction: u*v^2 - (F + k)*v, spots: {{nodes: [3], hops: 3, value: 0.5}}}}], method: {}, timestep: 0.4, "
      "end_time: {}}}",
      method, end);
}

std::string carried(const char* method, bool given, double end = 0.5) {
  return fmt::format(
      "{{mesh: {{rectangle: {{cells: [24, 16], size: [2, 1], shake: 0.25}}}}, stream: "
      "\"sin(pi*(x + 0.1*sin(t)*x*(2 - x)))*sin(pi*y)\", diffusivity: 1e-3*(1 + x), source: 0.1*sin(t)*x - 0.02*c, "
      "initial: "
      "exp(-30*((x - 0.5)^2 + (y - 0.4)^2)), method: {}, boundaries: {}, end_time: {}, sample_interval: 0.1}}",
      method, given ? "{left: {value: sin(3*t)}, top: {flux: x}, right: {outflow: true}}" : "{}", end);
}

template <class C>
void compare(const std::string& deck) {
  C part(deck, MPI_COMM_WORLD), whole(deck, MPI_COMM_SELF);
  part.finish();
  whole.finish();
  INFO(deck << ", ranks " << part.comm().size());
  CHECK(part.state().step == whole.state().step);
  CHECK(part.state().step > 10);
  CHECK(part.own() == whole.same_rows(part.node_run().stepper().range()));
  for (const auto& observable : part.physics().observables()) CHECK(part(observable.name) == whole(observable.name));
}

template <class C>
void restart(const std::string& deck) {
  C straight(deck, MPI_COMM_WORLD), resumed(deck, MPI_COMM_WORLD, false);
  const SharedScratch scratch(straight.comm());
  const std::string path = scratch.file("restart.h5");
  for (int k = 0; k < 13; ++k) straight.advance();
  straight.write(path);
  resumed.resume(path);
  straight.finish();
  resumed.finish();
  CHECK(straight.state().step > 15);
  CHECK(straight.state().step == resumed.state().step);
  CHECK(straight.state().time == resumed.state().time);
  CHECK(straight.own() == resumed.own());
}

}  // namespace

TEST_CASE("any number of ranks gives the same bits: reactions on a graph") {
  for (const char* method : {"explicit", "implicit"}) compare<Diffusion>(reacting(method));
}

namespace {

/// Each new node chooses four that are there, by their edges (Barabási and Albert 1999): degrees fall as a power law.
EdgeList power_law(std::int64_t nodes) {
  EdgeList out;
  out.nodes = nodes;
  std::vector<std::int32_t> ends{0, 1, 1, 2, 2, 0};
  for (int k = 0; k < 3; ++k) out.edges.push_back({ends[2 * k], ends[2 * k + 1], 1.0});
  for (std::int32_t i = 3; i < nodes; ++i) {
    std::vector<std::int32_t> chosen;
    for (std::uint64_t draw = 0; std::ssize(chosen) < std::min(i, 4); ++draw) {
      const auto bits = Random4(7, Stream::test, static_cast<std::uint64_t>(i), draw).uniform(0);
      const auto j = ends[bits * static_cast<double>(ends.size())];
      if (std::find(chosen.begin(), chosen.end(), j) == chosen.end()) chosen.push_back(j);
    }
    for (const auto j : chosen) {
      out.edges.push_back({i, j, 1.0});
      ends.push_back(i);
      ends.push_back(j);
    }
  }
  return out;
}

/// Work of the busiest of runs of nodes over the mean.
double imbalance(const sparse::Csr<double>& pattern, const std::vector<std::int64_t>& first) {
  std::int64_t most = 0;
  for (std::size_t r = 0; r + 1 < first.size(); ++r) {
    CHECK(first[r] < first[r + 1]);
    most = std::max(most,
                    pattern.start[first[r + 1]] - pattern.start[first[r]] + work_of_a_node * (first[r + 1] - first[r]));
  }
  const auto all = static_cast<double>(pattern.entries() + work_of_a_node * pattern.rows);
  return static_cast<double>(most) * static_cast<double>(first.size() - 1) / all;
}

}  // namespace

TEST_CASE("ranks share the work of a power-law graph, not its nodes") {
  Log silent(nullptr, false);
  const auto list = power_law(3000);
  for (const bool renumber : {false, true}) {
    const auto weight = network_of(list, "power law", renumber, silent).weight;
    for (const int ranks : {1, 2, 4, 8, 16}) {
      std::vector<std::int64_t> even;
      for (int r = 0; r <= ranks; ++r) even.push_back(weight.rows * r / ranks);
      INFO("ranks " << ranks << ", renumbered " << renumber);
      CHECK(imbalance(weight, first_nodes(weight, ranks)) <= 1.2);
      if (ranks > 1 && !renumber) CHECK(imbalance(weight, even) > 1.2);
    }
  }
}

TEST_CASE("any number of ranks gives the same bits: a power-law graph") {
  const Comm comm;
  const SharedScratch scratch(comm);
  const std::string path = scratch.file("edges.txt");
  if (comm.root()) {
    std::ofstream file(path);
    for (const auto& edge : power_law(3000).edges) file << edge.row << ' ' << edge.column << '\n';
  }
  comm.barrier();
  for (const char* method : {"explicit", "implicit"})
    compare<Diffusion>(
        fmt::format("{{graph: {{file: {}}}, species: [{{name: u, diffusion: 0.1, initial: node, reaction: "
                    "-0.1*u}}], method: {}, timestep: 0.001, end_time: 0.02}}",
                    path, method));
}

namespace {

const char* refined_wall = "{rectangle: {cells: [20, 10], size: [2, 1]}, refine: [{where: y < 0.12, times: 4}]}";

/// Triangles of the busiest of as many strips of equal width, across x or y, over the mean.
double imbalance_of_strips(const Triangles& mesh, int strips, int axis) {
  std::vector<double> count(strips);
  for (const auto& c : mesh.corner) {
    const double middle = (mesh.point[c[0]][axis] + mesh.point[c[1]][axis] + mesh.point[c[2]][axis]) / 3.0;
    ++count[static_cast<std::size_t>(middle / (axis == 0 ? 2.0 : 1.0) * strips)];
  }
  return *std::max_element(count.begin(), count.end()) * strips / static_cast<double>(mesh.triangles());
}

}  // namespace

TEST_CASE("ranks share the work of a mesh that is refined at a wall") {
  Log silent(nullptr, false);
  const auto mesh = make_mesh(deck::read<MeshKeys>(deck::parse(refined_wall, "test")), 1, silent);
  const auto pattern = pattern_of(mesh);
  for (const int ranks : {2, 4, 8, 16}) {
    INFO("ranks " << ranks << ", nodes " << pattern.rows);
    CHECK(imbalance_of_strips(mesh, ranks, 1) > 1.2);  // equal parts of the height are not equal work
    CHECK(imbalance(pattern, first_nodes(pattern, ranks)) <= 1.2);
  }
}

TEST_CASE("any number of ranks gives the same bits: a mesh that is refined at a wall") {
  for (const char* method : {"explicit", "implicit"})
    compare<Transport>(
        fmt::format("{{mesh: {}, stream: \"sin(pi*x)*sin(pi*y)\", diffusivity: 1e-3, initial: "
                    "\"if(y < 0.1, 1, 0)\", method: {}, boundaries: {{bottom: {{value: 1}}}}, "
                    "end_time: 0.2}}",
                    refined_wall, method));
}

TEST_CASE("any number of ranks gives the same bits: transport on triangles") {
  for (const char* method : {"explicit", "implicit"})
    for (const bool given : {false, true}) compare<Transport>(carried(method, given));
}

TEST_CASE("a restart gives the same bits") {
  for (const char* method : {"explicit", "implicit"}) {
    restart<Diffusion>(reacting(method));
    restart<Transport>(carried(method, true));
  }
}

namespace {

constexpr Partition every_partition[] = {Partition::automatic, Partition::ranges, Partition::cut};

sparse::Csr<double> random_graph() {
  Log silent(nullptr, false);
  NetworkKeys keys;
  keys.random.emplace(300, 9.0, "1");
  return make_network(keys, 1, silent).weight;
}

}  // namespace

TEST_CASE("neighbours' rows arrive where they belong, and their bytes are counted") {
  const Comm comm;
  Log silent(nullptr, false);
  const auto weight = random_graph();
  for (const auto partition : every_partition) {
    NodeRange range(weight, comm, ownership_of(weight, comm.size(), partition, silent));
    std::vector<double> values(2 * range.local(), -1.0);
    for (std::int64_t i = 0; i < range.owned(); ++i)
      for (int k = 0; k < 2; ++k) values[2 * i + k] = 10.0 * range.own()[i] + k;
    range.exchange(values, 2);
    std::int64_t looked = 0;
    for (const auto i : range.own())
      for (const auto j : weight.columns_of(i)) {
        for (int k = 0; k < 2; ++k) CHECK(values[2 * range.row_of(j) + k] == 10.0 * j + k);
        ++looked;
      }
    CHECK(looked > 0);
    CHECK(comm.sum(range.owned()) == 300);
    auto order = range.order();
    std::sort(order.begin(), order.end());
    for (std::int32_t i = 0; i < 300; ++i) CHECK(order[i] == i);
    CHECK(comm.sum(range.words().bytes) == 2 * 8 * range.halo());
    CHECK(range.halo() == comm.sum(range.local() - range.owned()));
    if (comm.size() > 1) CHECK(range.halo() < 300);  // nodes are numbered so that few are needed elsewhere
  }
}

TEST_CASE("parts by cut need fewer rows of each other than ranges of nodes") {
  Log silent(nullptr, false);
  const auto pattern =
      pattern_of(make_mesh(deck::read<MeshKeys>(deck::parse("{disc: {rings: 20}}", "test")), 1, silent));
  for (const int ranks : {2, 4, 8, 16}) {
    const auto ranges = ownership_of(pattern, ranks, Partition::ranges, silent),
               cut = ownership_of(pattern, ranks, Partition::cut, silent),
               chosen = ownership_of(pattern, ranks, Partition::automatic, silent);
    INFO("ranks " << ranks << ": " << ranges.halo << " rows with ranges, " << cut.halo << " by cut");
    CHECK(ranges.ranges);
    CHECK(ranges.halo == ranges.halo_of_ranges);
    CHECK(cut.halo_of_ranges == ranges.halo);
    CHECK(chosen.halo == (cut.halo <= 0.9 * static_cast<double>(ranges.halo) ? cut.halo : ranges.halo));
    if (!sparse::has_metis()) continue;
    CHECK(cut.imbalance < 1.15);
    if (ranks >= 8) CHECK(cut.halo < 0.7 * static_cast<double>(ranges.halo));
  }
}

TEST_CASE("every partition gives the bits of one rank") {
  for (const char* partition : {"ranges", "cut"})
    for (const char* method : {"explicit", "implicit"}) {
      compare<Diffusion>(fmt::format("{{partition: {}, {}", partition, reacting(method, 4.8).substr(1)));
      compare<Transport>(fmt::format("{{partition: {}, {}", partition, carried(method, true, 0.2).substr(1)));
    }
}

TEST_CASE("a checkpoint of one partition is read with another one, and on one rank") {
  const auto deck = reacting("explicit");
  const auto with = [&](const char* partition) {
    return fmt::format("{{partition: {}, {}", partition, deck.substr(1));
  };
  Diffusion cut(with("cut"), MPI_COMM_WORLD), ranges(with("ranges"), MPI_COMM_WORLD, false),
      alone(with("cut"), MPI_COMM_SELF, false);
  const SharedScratch scratch(cut.comm());
  for (int k = 0; k < 7; ++k) cut.advance();
  cut.write(scratch.file("restart.h5"));
  for (auto* other : {&ranges, &alone}) {
    other->resume(scratch.file("restart.h5"));
    other->advance();
  }
  cut.advance();
  CHECK(cut.own() == alone.same_rows(cut.node_run().stepper().range()));
  CHECK(ranges.own() == alone.same_rows(ranges.node_run().stepper().range()));
}

TEST_CASE("the summary counts the bytes of other ranks' nodes") {
  const Comm comm;
  Diffusion run("{partition: cut, " + reacting("explicit").substr(1), MPI_COMM_WORLD);
  for (int k = 0; k < 3; ++k) run.advance();
  std::map<std::string, double> found;
  for (const auto& result : run.physics().results()) found[result.key] = result.value;
  CHECK(found.contains("halo_bytes_per_step") == (comm.size() > 1));
  if (comm.size() == 1) return;
  const auto& range = run.node_run().stepper().range();
  CHECK(found["halo_bytes_per_step"] == Approx(3.0 * 2.0 * 8.0 * static_cast<double>(range.halo())));
  CHECK(found["halo_bytes_per_step_of_ranges"] ==
        Approx(3.0 * 2.0 * 8.0 * static_cast<double>(range.halo_of_ranges())));
  CHECK(run.physics().summary().find("rows in an exchange") != std::string::npos);
}

namespace {

/// Memory of a physics on the rank that has most, after 3 steps.
template <class C>
double most_held(const std::string& deck, MPI_Comm comm) {
  C run(deck, comm);
  for (int k = 0; k < 3; ++k) run.advance();
  return run.comm().max(static_cast<double>(run.physics().bytes()));
}

template <class C>
void held(const std::string& deck, double nodes) {
  const double together = most_held<C>(deck, MPI_COMM_WORLD), alone = most_held<C>(deck, MPI_COMM_SELF);
  const int ranks = Comm().size();
  INFO(deck << ": " << alone << " bytes on one rank, at most " << together << " on each of " << ranks);
  CHECK(alone > 100.0 * nodes);
  CHECK(together <= 1.15 * alone / ranks);  // beside the share: a row of neighbours at either end
}

}  // namespace

TEST_CASE("what a rank holds of a graph or a mesh falls as one over the ranks") {
  for (const char* method : {"explicit", "implicit"}) {
    held<Diffusion>(fmt::format("{{graph: {{grid: {{nodes: [120, 80]}}}}, species: [{{name: u, diffusion: 1, initial: "
                                "x, reaction: -u}}, {{name: v, diffusion: 2, initial: y}}], method: {}, timestep: "
                                "0.01, end_time: 16}}",
                                method),
                    9600.0);
    held<Transport>(fmt::format("{{mesh: {{rectangle: {{cells: [120, 80], shake: 0.2}}}}, velocity: [\"1\", \"t\"], "
                                "diffusivity: 1e-3, initial: x*y, method: {}, timestep: 1e-4, boundaries: {{left: "
                                "{{value: 1}}, right: {{outflow: true}}}}, end_time: 1}}",
                                method),
                    9801.0);
  }
}
