#include "plugins/kinetic/species/distribution_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/error.hpp"

namespace cambium::kinetic {
namespace {

/// Where a rank's part lies: first cell and count per dimension.
struct Part {
  int first[6] = {}, count[6] = {};
};

Part part_of(const PhaseGrid& grid) {
  Part p;
  for (int d = 0; d < grid.dimensions(); ++d) p.first[d] = grid.axis[d].first, p.count[d] = grid.axis[d].count;
  return p;
}

/// All coefficients of this rank, [conf cell][velocity cell][mode].
std::vector<double> flatten(const Solver& solver) {
  const auto& grid = solver.grid();
  const int nc = grid.local_conf_cells(), nv = grid.local_velocity_cells(), modes = solver.basis().modes;
  std::vector<double> out(static_cast<std::size_t>(nc) * nv * modes);
  for (int ic = 0; ic < nc; ++ic)
    for (int iv = 0; iv < nv; ++iv) solver.get(0, ic, iv, &out[(static_cast<std::size_t>(ic) * nv + iv) * modes]);
  return out;
}

/// The block of one conf cell of a part: start and shape in the file's array.
struct Row {
  std::vector<std::int64_t> start;
  TensorRef tensor;
};

Row row_of(const PhaseGrid& whole, const Part& part, int conf, int modes, double* data) {
  PhaseGrid grid = whole;
  for (int d = 0; d < grid.dimensions(); ++d) grid.axis[d].first = part.first[d], grid.axis[d].count = part.count[d];
  Row row;
  row.start.push_back(grid.conf_index(grid.local_conf(conf)));
  std::vector<std::int64_t> shape{1};
  for (int d = 0; d < grid.vdim; ++d)
    row.start.push_back(grid.velocity(d).first), shape.push_back(grid.velocity(d).count);
  row.start.push_back(0), shape.push_back(modes);
  TensorRef t;
  t.data = data;
  t.rank = static_cast<int>(shape.size());
  std::int64_t stride = 1;
  for (int k = t.rank - 1; k >= 0; --k) t.shape[k] = shape[k], t.stride[k] = stride, stride *= shape[k];
  row.tensor = t;
  return row;
}

void write_part(io::Dataset& set, const PhaseGrid& grid, const Part& part, int modes, std::vector<double>& data) {
  int conf = 1, velocity = 1;
  for (int d = 0; d < grid.dimensions(); ++d) (d < grid.cdim ? conf : velocity) *= part.count[d];
  for (int c = 0; c < conf; ++c) {
    const Row row = row_of(grid, part, c, modes, &data[static_cast<std::size_t>(c) * velocity * modes]);
    set.write_block(row.start, row.tensor);
  }
}

}  // namespace

void describe_grid(io::Object& object, const PhaseGrid& grid, const BasisInfo& basis) {
  std::vector<double> lower, upper;
  std::vector<int> cells, exponents;
  for (int d = 0; d < grid.dimensions(); ++d) {
    lower.push_back(grid.axis[d].lower), upper.push_back(grid.axis[d].upper), cells.push_back(grid.axis[d].cells);
  }
  for (const auto& e : basis.exponents) exponents.insert(exponents.end(), e.begin(), e.end());
  object.set_attribute("cdim", grid.cdim);
  object.set_attribute("vdim", grid.vdim);
  object.set_attribute("lower", lower);
  object.set_attribute("upper", upper);
  object.set_attribute("cells", cells);
  object.set_attribute("basis", basis.name);
  object.set_attribute("exponents", io::tensor_of(exponents.data(), {basis.modes, grid.dimensions()}));
}

void write_distribution(io::Group& group, const std::string& name, const Solver& solver, const Comm& comm) {
  const auto& grid = solver.grid();
  const int modes = solver.basis().modes;
  Part part = part_of(grid);
  auto data = flatten(solver);
  if (!comm.root()) {
    MPI_Send(&part, sizeof part, MPI_BYTE, 0, 70, comm.handle());
    MPI_Send(data.data(), static_cast<int>(data.size()), MPI_DOUBLE, 0, 71, comm.handle());
    return;
  }
  std::vector<std::int64_t> shape{grid.conf_cells()};
  for (int d = 0; d < grid.vdim; ++d) shape.push_back(grid.velocity(d).cells);
  shape.push_back(modes);
  io::Dataset set = group.allocate(name + "/f", DType::f64, shape);
  describe_grid(set, grid, solver.basis());
  write_part(set, grid, part, modes, data);
  for (int rank = 1; rank < comm.size(); ++rank) {
    MPI_Recv(&part, sizeof part, MPI_BYTE, rank, 70, comm.handle(), MPI_STATUS_IGNORE);
    std::size_t n = modes;
    for (int d = 0; d < grid.dimensions(); ++d) n *= part.count[d];
    data.resize(n);
    MPI_Recv(data.data(), static_cast<int>(n), MPI_DOUBLE, rank, 71, comm.handle(), MPI_STATUS_IGNORE);
    write_part(set, grid, part, modes, data);
  }
}

void read_distribution(const io::Group& group, const std::string& name, Solver& solver) {
  const auto& grid = solver.grid();
  const int modes = solver.basis().modes, nv = grid.local_velocity_cells();
  const io::Dataset set = group.dataset(name + "/f");
  std::vector<int> cells;
  for (int d = 0; d < grid.dimensions(); ++d) cells.push_back(grid.axis[d].cells);
  const auto found = set.attribute<std::vector<int>>("cells");
  const auto basis = set.attribute<std::string>("basis");
  if (found != cells || basis != solver.basis().name)
    throw InputError(
        fmt::format("species '{}' was stored on [{}] cells with basis {}, this deck has [{}] with {}; resume with the "
                    "deck that wrote it, or begin another run with 'start_from'",
                    name, fmt::join(found, ", "), basis, fmt::join(cells, ", "), solver.basis().name));
  const Part part = part_of(grid);
  std::vector<double> data(static_cast<std::size_t>(nv) * modes);
  for (int ic = 0; ic < grid.local_conf_cells(); ++ic) {
    const Row row = row_of(grid, part, ic, modes, data.data());
    set.read_block(row.start, row.tensor);
    for (int iv = 0; iv < nv; ++iv) solver.set(0, ic, iv, &data[static_cast<std::size_t>(iv) * modes]);
  }
}

}  // namespace cambium::kinetic
