// What the outputs node_fields and vtkhdf hold of physics on nodes, on any number of ranks, after a resume, and as a
// start.
#include "core/run/vtkhdf_writer.hpp"
#include "plugins/graph/writers/node_fields.hpp"
#include "tests/plugins/graph/node_case.hpp"
#include "tests/scratch.hpp"
#include "tests/shared_scratch.hpp"

using namespace cambium;
using namespace cambium::graph;
using namespace cambium::graph::test;

namespace {

const char* reacting_deck =
    "{graph: {random: {nodes: 60, degree: 6, weight: 1 + d}}, species: [{name: u, diffusion: 1, initial: node}, {name: "
    "v, "
    "diffusion: 2, initial: x + 10*y}], timestep: 0.01, end_time: 1}";

template <class W>
std::unique_ptr<W> writer_of(Diffusion& run, const std::string& folder, const std::string& keys) {
  run.context().run_directory = folder;
  auto writer = std::make_unique<W>(deck::read<typename W::Params>(deck::parse(keys, "test")), run.context());
  writer->attach(run.physics());
  return writer;
}

using Ints = std::vector<std::int64_t>;
using Reals = std::vector<double>;

/// A physics without nodes.
class Nothing : public Physics {
 public:
  void declare(State&, Context&) override {}
  void initialise(State&, Context&) override {}
  void restore(State&, Context&, const io::Group&, bool) override {}
  void schedule(Schedule&) override {}
  double timestep(const State&) const override { return 1.0; }
  std::vector<Observable> observables() const override { return {}; }
  void measure(const State&, Context&, std::span<double>) override {}
  Work work(const State&) const override { return {1, "cell"}; }
};

}  // namespace

TEST_CASE("nodes stand in the order of their numbers, with places and edges") {
  Diffusion run(reacting_deck, MPI_COMM_WORLD);
  const SharedScratch scratch(run.comm());
  {
    auto writer = writer_of<NodeFieldsWriter>(run, scratch.folder, "{every: 2}");
    writer->observe(run.state(), 0, 0.0);
  }
  if (!run.comm().root()) return;
  const auto file = io::File::open(scratch.file("nodes.h5"));
  const auto u = file.read<Reals>("u"), v = file.read<Reals>("v"), x = file.read<Reals>("x"), y = file.read<Reals>("y"),
             weight = file.read<Reals>("weight");
  const auto edge = file.read<Ints>("edge");
  CHECK(file.dataset("u").shape() == Ints{1, 60});
  for (int i = 0; i < 60; ++i) {
    CHECK(u[i] == i);
    CHECK(v[i] == Approx(x[i] + 10.0 * y[i]));
  }
  const double radius = std::sqrt(6.0 / (3.14159265358979 * 60.0));
  CHECK(std::ssize(weight) > 100);
  CHECK(std::ssize(edge) == 2 * std::ssize(weight));
  for (std::size_t e = 0; e < weight.size(); ++e)
    CHECK(weight[e] ==
          Approx(1.0 + std::hypot(x[edge[2 * e]] - x[edge[2 * e + 1]], y[edge[2 * e]] - y[edge[2 * e + 1]]) / radius));
}

TEST_CASE("moments come by interval, and a resumed run goes on behind the last one kept") {
  Diffusion run(reacting_deck, MPI_COMM_WORLD);
  const SharedScratch scratch(run.comm());
  const auto observe = [&](auto& writer, std::int64_t from, std::int64_t to) {
    for (std::int64_t step = from; step <= to; ++step)
      writer->observe(run.state(), step, 0.1 * static_cast<double>(step));
  };
  {
    auto writer = writer_of<NodeFieldsWriter>(run, scratch.folder, "{interval: 0.3, precision: single}");
    CHECK(writer->every() == 1);
    observe(writer, 0, 7);
  }
  auto writer = writer_of<NodeFieldsWriter>(run, scratch.folder, "{interval: 0.3, precision: single}");
  writer->resume(4);
  observe(writer, 5, 9);
  if (!run.comm().root()) return;
  const auto file = io::File::open(scratch.file("nodes.h5"));
  CHECK(file.read<Ints>("step") == Ints{0, 3, 6, 9});
  CHECK(file.dataset("v").shape() == Ints{4, 60});
  CHECK(file.dataset("v").dtype() == DType::f32);
}

TEST_CASE("a run begins where the file of another one ends") {
  Diffusion first(reacting_deck, MPI_COMM_WORLD);
  const SharedScratch scratch(first.comm());
  for (int k = 0; k < 5; ++k) first.advance();
  {
    auto writer = writer_of<NodeFieldsWriter>(first, scratch.folder, "{}");
    writer->observe(first.state(), 5, 0.05);
  }
  first.comm().barrier();
  std::string next(reacting_deck);
  next.replace(next.rfind('}'), 1, ", start_from: " + scratch.file("nodes.h5") + "}");
  Diffusion second(next, MPI_COMM_WORLD);
  CHECK(second.own() == first.own());
}

TEST_CASE("time goes on from the file that a run begins with, in formulas and outputs, or from 'start_time'") {
  const std::string deck =
      "{graph: {ring: {nodes: 12}}, species: [{name: u, diffusion: 1, initial: node, reaction: cos(20*t)}], timestep: "
      "0.01, end_time: 1";
  Diffusion first(deck + "}", MPI_COMM_WORLD);
  const SharedScratch scratch(first.comm());
  for (int k = 0; k < 5; ++k) first.advance();
  {
    auto writer = writer_of<NodeFieldsWriter>(first, scratch.folder, "{}");
    writer->observe(first.state(), 5, first.state().time);
  }
  first.comm().barrier();
  const auto from = ", start_from: " + scratch.file("nodes.h5");
  Diffusion second(deck + from + "}", MPI_COMM_WORLD);
  CHECK(second.state().time == first.state().time);
  CHECK(second.physics().progress(second.state()) == 0.0);
  for (int k = 0; k < 7; ++k) first.advance(), second.advance();
  CHECK(second.own() == first.own());
  CHECK(second.state().time == first.state().time);
  second.finish();
  CHECK(second.state().time == Approx(1.0));
  CHECK(Diffusion(deck + from + ", start_time: 0}", MPI_COMM_WORLD).state().time == 0.0);
  CHECK(Diffusion(deck + ", start_time: 0.5}", MPI_COMM_WORLD).state().time == 0.5);
}

TEST_CASE("ParaView's file has lines between the nodes") {
  Diffusion run(reacting_deck, MPI_COMM_WORLD);
  const SharedScratch scratch(run.comm());
  {
    auto writer = writer_of<VtkhdfWriter>(run, scratch.folder, "{every: 1, precision: double}");
    writer->observe(run.state(), 0, 0.0);
  }
  if (!run.comm().root()) return;
  const auto file = io::File::open(scratch.file("output.vtkhdf"));
  const auto u = file.read<Reals>("/VTKHDF/PointData/u");
  for (int i = 0; i < 60; ++i) CHECK(u[i] == i);
  CHECK(file.read<std::vector<std::uint8_t>>("/VTKHDF/Types").front() == 3);
}

TEST_CASE("another physics is refused") {
  Diffusion run(reacting_deck);
  Nothing nothing;
  NodeFieldsWriter writer({}, run.context());
  CHECK(message([&] { writer.attach(nothing); }) ==
        "output 'node_fields' shows physics on nodes (graph_diffusion, mesh_transport); leave it out");
}
