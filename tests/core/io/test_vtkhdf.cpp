#include <fmt/format.h>

#include <cstring>
#include <fstream>
#include <iterator>

#include "core/plugin/physics.hpp"
#include "core/run/vtkhdf_writer.hpp"
#include "tests/catch.hpp"
#include "tests/sample_particles.hpp"
#include "tests/scratch.hpp"
#include "tests/shared_scratch.hpp"

using namespace cambium;

namespace {

/// A physics with a grid of its own, or with none.
class Fixed : public Physics {
 public:
  std::optional<GridFields> grid;
  std::optional<GridFields> grid_fields(const State& state, const Comm& comm) const override {
    if (!grid) return {};
    GridFields now = *grid;
    for (auto& field : now.fields)
      for (double& value : field.values) value += static_cast<double>(state.step);
    if (!comm.root())
      for (auto& field : now.fields) field.values.clear();
    return now;
  }
  std::optional<NodeFields> nodes;
  std::optional<NodeFields> node_fields(const State& state, const Comm&) const override {
    auto now = nodes;
    if (now)
      for (auto& field : now->fields)
        for (double& value : field.values) value += static_cast<double>(state.step);
    return now;
  }
  void declare(State&, Context&) override {}
  void initialise(State&, Context&) override {}
  void restore(State&, Context&, const io::Group&, bool) override {}
  void schedule(Schedule&) override {}
  double timestep(const State&) const override { return 1.0; }
  std::vector<Observable> observables() const override { return {}; }
  void measure(const State&, Context&, std::span<double>) override {}
  Work work(const State&) const override { return {1, "cell"}; }
};

struct World {
  Comm comm;
  Log log;
  Timing timing;
  SharedScratch scratch{comm};
  Context context{comm, log, timing};
  Fixed physics;
  World() { context.run_directory = scratch.folder; }
  VtkhdfWriter writer(const VtkhdfWriter::Params& params = {}) {
    VtkhdfWriter w(params, context);
    w.attach(physics);
    return w;
  }
  void observe(VtkhdfWriter& w, std::int64_t step) const {
    State state;
    state.step = step;
    state.time = 0.5 * static_cast<double>(step);
    w.observe(state, state.step, state.time);
  }
  io::File file() const { return io::File::open(scratch.file("output.vtkhdf")); }
};

/// Values 100 (component) + 10 (axis 1) + (axis 0), of a scalar and of a vector.
GridFields sample(const std::vector<double>& x, const std::vector<double>& y) {
  GridFields g;
  g.axes = {{"x", x}};
  if (!y.empty()) g.axes.push_back({"z", y});
  g.fields = {{"b", "K", 1, {}}, {"flow", "m/s", 3, {}}};
  for (std::size_t j = 0; j + 1 < std::max<std::size_t>(y.size(), 2); ++j)
    for (std::size_t i = 0; i + 1 < x.size(); ++i) {
      g.fields[0].values.push_back(static_cast<double>(10 * j + i));
      for (int c = 0; c < 3; ++c) g.fields[1].values.push_back(static_cast<double>(100 * c + 10 * j + i));
    }
  return g;
}

using Ints = std::vector<std::int64_t>;
using Reals = std::vector<double>;

}  // namespace

TEST_CASE("an even grid becomes an image with a moment per row") {
  World w;
  w.physics.grid = sample({1.0, 1.5, 2.0, 2.5}, {0.0, 2.0, 4.0});
  {
    auto writer = w.writer();
    for (std::int64_t step : {0, 100}) w.observe(writer, step);
  }
  if (!w.comm.root()) return;
  const auto file = w.file();
  const auto head = file.group("/VTKHDF");
  CHECK(head.attribute<Ints>("Version") == Ints{2, 0});
  CHECK(head.attribute<std::string>("Type") == "ImageData");
  CHECK(head.attribute<Ints>("WholeExtent") == Ints{0, 3, 0, 2, 0, 0});
  CHECK(head.attribute<Reals>("Origin") == Reals{1.0, 0.0, 0.0});
  CHECK(head.attribute<Reals>("Spacing") == Reals{0.5, 2.0, 1.0});
  CHECK(file.dataset("/VTKHDF/CellData/b").shape() == Ints{2, 2, 3});
  CHECK(file.dataset("/VTKHDF/CellData/flow").shape() == Ints{2, 2, 3, 3});
  CHECK(file.read<Reals>("/VTKHDF/CellData/b") == Reals{0, 1, 2, 10, 11, 12, 100, 101, 102, 110, 111, 112});
  CHECK(file.read<Reals>("/VTKHDF/CellData/flow")[5] == 201.0);  // cell (1, 0), third component
  CHECK(file.dataset("/VTKHDF/CellData/b").attribute<std::string>("unit") == "K");
  const auto steps = file.group("/VTKHDF/Steps");
  CHECK(steps.attribute<std::int64_t>("NSteps") == 2);
  CHECK(steps.read<Reals>("Values") == Reals{0.0, 50.0});
  CHECK(steps.read<Ints>("CellDataOffsets/b") == Ints{0, 1});
  CHECK(file.read<Ints>("/step") == Ints{0, 100});
}

TEST_CASE("an uneven grid becomes a mesh whose corners are stored once") {
  World w;
  w.physics.grid = sample({0.0, 1.0, 3.0}, {0.0, 2.0, 3.0});
  VtkhdfWriter::Params params;
  params.precision = Precision::float64;
  {
    auto writer = w.writer(params);
    for (std::int64_t step : {0, 100, 200}) w.observe(writer, step);
  }
  if (!w.comm.root()) return;
  const auto file = w.file();
  const auto head = file.group("/VTKHDF");
  CHECK(head.attribute<std::string>("Type") == "UnstructuredGrid");
  CHECK(head.read<Ints>("NumberOfPoints") == Ints{9});
  CHECK(head.read<Ints>("NumberOfCells") == Ints{4});
  CHECK(head.read<Ints>("NumberOfConnectivityIds") == Ints{16});
  CHECK(head.read<Ints>("Offsets") == Ints{0, 4, 8, 12, 16});
  CHECK(head.read<Ints>("Connectivity") == Ints{0, 1, 4, 3, 1, 2, 5, 4, 3, 4, 7, 6, 4, 5, 8, 7});
  CHECK(head.read<std::vector<std::uint8_t>>("Types") == std::vector<std::uint8_t>(4, 9));
  CHECK(head.read<Reals>("Points")[3 * 5] == 3.0);  // the corner (2, 1): x, then z upwards
  CHECK(head.read<Reals>("Points")[3 * 5 + 1] == 2.0);
  CHECK(head.read<Reals>("Steps/Values").size() == 3);
  for (const char* name : {"PartOffsets", "PointOffsets", "CellOffsets", "ConnectivityIdOffsets"})
    CHECK(head.read<Ints>(std::string("Steps/") + name) == Ints{0, 0, 0});
  CHECK(head.read<Ints>("Steps/NumberOfParts") == Ints{1, 1, 1});
  CHECK(head.read<Ints>("Steps/CellDataOffsets/flow") == Ints{0, 4, 8});
  CHECK(head.dataset("CellData/flow").shape() == Ints{12, 3});
  CHECK(head.read<Reals>("CellData/b")[4 + 2] == 110.0);
}

TEST_CASE("one and three dimensions have their own cells") {
  World w;
  for (int dimensions : {1, 3}) {
    GridFields g;
    for (int d = 0; d < dimensions; ++d) g.axes.push_back({"xyz" + d, {0.0, 1.0, 3.0}});
    g.fields = {{"n", "", 1, Reals(g.cells(), 1.0)}};
    w.physics.grid = g;
    {
      auto writer = w.writer();
      w.observe(writer, 0);
    }
    if (!w.comm.root()) continue;
    const auto file = w.file();
    const auto head = file.group("/VTKHDF");
    CHECK(head.read<std::vector<std::uint8_t>>("Types").front() == (dimensions == 1 ? 3 : 12));
    if (dimensions == 1)
      CHECK(head.read<Ints>("Connectivity") == Ints{0, 1, 1, 2});
    else
      CHECK(head.read<Ints>("Connectivity")[6] == 13);  // the middle of 3 x 3 x 3 corners
  }
}

TEST_CASE("particles become vertices in the order of ids, whatever the ranks") {
  World w;
  VtkhdfWriter::Params params;
  params.velocities = true;
  params.precision = Precision::float64;
  {
    auto writer = w.writer(params);
    for (std::int64_t step : {0, 100}) {
      const State state = sample_state(w.comm, step, true);
      writer.observe(state, step, state.time);
    }
  }
  if (!w.comm.root()) return;
  const auto file = w.file();
  const auto head = file.group("/VTKHDF");
  CHECK(head.attribute<std::string>("Type") == "PolyData");
  CHECK(head.read<Ints>("NumberOfPoints") == Ints{sample_size});
  CHECK(head.dataset("Points").shape() == Ints{2 * sample_size, 3});
  CHECK(head.read<Ints>("Steps/PointOffsets") == Ints{0, sample_size});
  CHECK(head.read<Ints>("Steps/PointDataOffsets/velocity") == Ints{0, sample_size});
  CHECK(head.read<Ints>("Steps/PointDataOffsets/id") == Ints{0, 0});
  CHECK(head.dataset("Steps/CellOffsets").shape() == Ints{2, 4});
  CHECK(head.read<Ints>("Vertices/NumberOfCells") == Ints{sample_size});
  CHECK(head.read<Ints>("Vertices/Offsets").size() == sample_size + 1);
  CHECK(head.read<Ints>("Lines/Offsets") == Ints{0});
  CHECK(head.read<Ints>("Lines/Connectivity").empty());
  const auto id = head.read<Ints>("PointData/id");
  const auto v = head.read<Reals>("PointData/velocity"), cell = head.read<Reals>("FieldData/cell");
  for (int i = 0; i < sample_size; ++i) {
    CHECK(id[i] == i + 1);
    CHECK(v[3 * (sample_size + i) + 1] == sample_particle(sample_box(true), i + 1, 100).v[1]);
  }
  CHECK(cell[9 + 3] == 1.5);
  CHECK(file.attribute<std::vector<std::string>>("species") == std::vector<std::string>{"Cu", "O"});
}

TEST_CASE("a resumed series drops later moments and goes on") {
  World w;
  for (const Reals& x : {Reals{0.0, 1.0, 2.0}, Reals{0.0, 1.0, 3.0}}) {
    w.physics.grid = sample(x, {});
    {
      auto writer = w.writer();
      for (std::int64_t step : {0, 100, 200, 300}) w.observe(writer, step);
    }
    {
      auto writer = w.writer();
      writer.resume(150);
      w.observe(writer, 210);
    }
    if (!w.comm.root()) continue;
    const auto file = w.file();
    CHECK(file.read<Ints>("/step") == Ints{0, 100, 210});
    CHECK(file.read<Reals>("/VTKHDF/Steps/Values") == Reals{0.0, 50.0, 105.0});
    CHECK(file.group("/VTKHDF/Steps").attribute<std::int64_t>("NSteps") == 3);
    CHECK(file.read<Reals>("/VTKHDF/CellData/b") == Reals{0, 1, 100, 101, 210, 211});
  }
  const std::string name = w.scratch.file("output.vtkhdf");
  w.physics.grid = sample({0.0, 1.0, 2.0, 4.0}, {});
  auto writer = w.writer();
  writer.resume(150);
  CHECK(message([&] { w.observe(writer, 400); }) ==
        "'" + name +
            "' holds 2 cells per frame but this run has 3: resume with the deck that wrote it, or move the file away");
}

TEST_CASE("moments at intervals of time, also after a resume") {
  World w;
  w.physics.grid = sample({0.0, 1.0, 2.0}, {});
  VtkhdfWriter::Params params;
  params.interval = 2.0;  // steps are 0.5
  {
    auto writer = w.writer(params);
    CHECK(writer.every() == 1);
    for (std::int64_t step = 0; step <= 9; ++step) w.observe(writer, step);
  }
  auto writer = w.writer(params);
  writer.resume(9);
  for (std::int64_t step = 10; step <= 13; ++step) w.observe(writer, step);
  if (w.comm.root()) CHECK(w.file().read<Ints>("/step") == Ints{0, 4, 8, 12});
}

TEST_CASE("triangles and the edges of a graph become cells that stay, with a moment per row of points") {
  for (const int corners : {2, 3}) {
    World w;
    auto cells = std::make_shared<NodeCells>();
    cells->points = {{0.0, 0.0, 0.0}, {1.0, 0.0, 0.0}, {1.0, 1.0, 0.0}, {0.0, 1.0, 0.5}};
    cells->corners = corners;
    cells->connectivity = corners == 3 ? Ints{0, 1, 2, 0, 2, 3} : Ints{0, 1, 2, 3};
    NodeFields nodes{cells, {{"c", "mol/l", 1, {0, 1, 2, 3}}, {"u", "", 3, Reals(12, 4.0)}}};
    if (!w.comm.root())
      for (auto& field : nodes.fields) field.values.clear();
    w.physics.nodes = nodes;
    {
      auto writer = w.writer();
      for (std::int64_t step : {0, 100}) w.observe(writer, step);
    }
    auto writer = w.writer();
    writer.resume(50);
    w.observe(writer, 200);
    if (!w.comm.root()) continue;
    const auto file = w.file();
    const auto head = file.group("/VTKHDF");
    CHECK(head.attribute<std::string>("Type") == "UnstructuredGrid");
    CHECK(head.read<std::vector<std::uint8_t>>("Types") == std::vector<std::uint8_t>(2, corners == 3 ? 5 : 3));
    CHECK(head.read<Ints>("Connectivity") == cells->connectivity);
    CHECK(head.read<Ints>("Offsets") == Ints{0, corners, 2 * corners});
    CHECK(head.read<Reals>("Points")[11] == 0.5);
    CHECK(head.read<Ints>("Steps/PointDataOffsets/u") == Ints{0, 4});
    CHECK(head.read<Ints>("Steps/PointOffsets") == Ints{0, 0});
    CHECK(head.dataset("PointData/u").shape() == Ints{8, 3});
    CHECK(head.read<Reals>("PointData/c") == Reals{0, 1, 2, 3, 200, 201, 202, 203});
    CHECK(head.dataset("PointData/c").attribute<std::string>("unit") == "mol/l");
    CHECK(file.read<Ints>("/step") == Ints{0, 200});
  }
}

namespace {
std::string text_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// The array at an offset behind the XML of a file: its length in bytes, then the numbers.
template <class T>
std::vector<T> appended(const std::string& text, std::size_t offset) {
  const char* at = text.data() + text.find("encoding=\"raw\">\n_") + 17 + offset;
  std::uint64_t bytes = 0;
  std::memcpy(&bytes, at, sizeof bytes);
  std::vector<T> out(bytes / sizeof(T));
  std::memcpy(out.data(), at + sizeof bytes, bytes);
  return out;
}
}  // namespace

TEST_CASE("every moment also in the XML formats that older readers know") {
  World w;
  w.physics.grid = sample({1.0, 1.5, 2.0, 2.5}, {0.0, 2.0, 4.0});
  VtkhdfWriter::Params params;
  params.xml = true;
  {
    auto writer = w.writer(params);
    CHECK(writer.files() == std::vector<std::string>{"output.vtkhdf", "output.pvd", "output.<step>.*"});
    for (std::int64_t step : {0, 100, 200}) w.observe(writer, step);
  }
  {
    auto writer = w.writer(params);
    writer.resume(150);
    w.observe(writer, 210);
  }
  if (!w.comm.root()) return;
  CHECK(text_of(w.scratch.file("output.pvd")) ==
        "<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"1.0\">\n<Collection>\n"
        "<DataSet timestep=\"0\" part=\"0\" file=\"output.0.vti\"/>\n"
        "<DataSet timestep=\"50\" part=\"0\" file=\"output.100.vti\"/>\n"
        "<DataSet timestep=\"105\" part=\"0\" file=\"output.210.vti\"/>\n</Collection>\n</VTKFile>\n");
  const auto image = text_of(w.scratch.file("output.100.vti"));
  CHECK_THAT(image,
             Catch::Contains("type=\"ImageData\" version=\"1.0\" byte_order=\"LittleEndian\" header_type=\"UInt64\">\n"
                             "<ImageData WholeExtent=\"0 3 0 2 0 0\" Origin=\"1 0 0\" Spacing=\"0.5 2 1\">\n"
                             "<Piece Extent=\"0 3 0 2 0 0\">\n<CellData>\n"));
  CHECK_THAT(image, Catch::Contains("<DataArray type=\"Float32\" Name=\"flow\" NumberOfComponents=\"3\" "
                                    "format=\"appended\" offset=\"32\"/>"));
  CHECK(appended<float>(image, 0) == std::vector<float>{100, 101, 102, 110, 111, 112});
  CHECK(appended<float>(image, 32)[5] == 301.0f);  // cell (1, 0), third component
}

TEST_CASE("uneven grids, graphs and particles are unstructured grids there") {
  World w;
  w.physics.grid = sample({0.0, 1.0, 3.0}, {0.0, 2.0, 3.0});
  VtkhdfWriter::Params params;
  params.xml = params.velocities = true;
  params.precision = Precision::float64;
  {
    auto writer = w.writer(params);
    w.observe(writer, 0);
  }
  World particles;
  {
    auto writer = particles.writer(params);
    const State state = sample_state(particles.comm, 100, true);
    writer.observe(state, 100, state.time);
  }
  if (!w.comm.root()) return;
  const auto mesh = text_of(w.scratch.file("output.0.vtu")), points = text_of(particles.scratch.file("output.100.vtu"));
  CHECK_THAT(
      mesh,
      Catch::Contains(
          "<Piece NumberOfPoints=\"9\" NumberOfCells=\"4\">\n<CellData>\n<DataArray type=\"Float64\" Name=\"b\""));
  CHECK(appended<double>(mesh, 0) == Reals{0, 1, 10, 11});
  const std::size_t corners = 40 + 104, ids = corners + 224, ends = ids + 136;  // behind b, flow
  CHECK(appended<double>(mesh, corners)[3 * 5] == 3.0);
  CHECK(appended<std::int64_t>(mesh, ids) == Ints{0, 1, 4, 3, 1, 2, 5, 4, 3, 4, 7, 6, 4, 5, 8, 7});
  CHECK(appended<std::int64_t>(mesh, ends) == Ints{4, 8, 12, 16});
  CHECK(appended<std::uint8_t>(mesh, ends + 40) == std::vector<std::uint8_t>(4, 9));
  CHECK_THAT(points, Catch::Contains(fmt::format("<Piece NumberOfPoints=\"{0}\" NumberOfCells=\"{0}\">", sample_size)));
  CHECK(appended<std::int64_t>(points, 0).back() == sample_size);
}

TEST_CASE("the log says which readers know the file, and what to write for others") {
  World w;
  w.physics.grid = sample({0.0, 1.0, 2.0}, {});
  CHECK(io::vtkhdf_readers("output.vtkhdf") ==
        "output.vtkhdf: for ParaView 5.12, VTK 9.3 or newer; older ones show it empty or end in it: give the output "
        "'xml: true' for them");
}

TEST_CASE("a physics with neither grid nor particles is refused") {
  World w;
  auto writer = w.writer();
  CHECK(message([&] { w.observe(writer, 0); }) ==
        "output 'vtkhdf' shows fields on a grid, a mesh or a graph, or particles, and this physics has none of them; "
        "leave "
        "it out");
}
