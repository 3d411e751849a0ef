#include "plugins/superres/samples/snapshot.hpp"

#include "core/io/hdf5/h5.hpp"

namespace cambium::superres {
namespace {

struct SnapshotMemory {
  std::vector<float> seen, future;
  std::array<std::vector<double>, 3> axis;
};

void append(const FieldData& flow, std::size_t first, std::size_t count, std::vector<float>& out) {
  const std::size_t nodes = flow.nx() * flow.nz();
  for (const auto& values : flow.values)
    for (std::size_t k = first * nodes; k < (first + count) * nodes; ++k) out.push_back(static_cast<float>(values[k]));
}

}  // namespace

train::SamplePtr snapshot(const FieldData& flow, std::size_t first, int history, int ahead, std::int64_t id) {
  auto memory = std::make_shared<SnapshotMemory>();
  const std::int64_t fields = std::ssize(flow.values), nx = std::ssize(flow.axis[1]), nz = std::ssize(flow.axis[2]);
  append(flow, first, static_cast<std::size_t>(history), memory->seen);
  append(flow, first + static_cast<std::size_t>(history), static_cast<std::size_t>(ahead), memory->future);
  memory->axis = flow.axis;
  memory->axis[0] = {flow.axis[0].begin() + static_cast<std::ptrdiff_t>(first),
                     flow.axis[0].begin() + static_cast<std::ptrdiff_t>(first) + history};
  if (flow.period > 0.0) memory->axis[1].push_back(flow.axis[1].front() + flow.period);
  auto sample = std::make_shared<train::Sample>();
  sample->id = id;
  sample->fields["coarse"] = io::tensor_of(memory->seen.data(), {fields, history, nx, nz});
  if (ahead > 0) sample->fields["future"] = io::tensor_of(memory->future.data(), {fields, ahead, nx, nz});
  constexpr const char* axes[3] = {"t", "x", "z"};
  for (int a = 0; a < 3; ++a)
    sample->fields[axes[a]] = io::tensor_of(memory->axis[a].data(), {std::ssize(memory->axis[a])});
  sample->bytes = static_cast<std::int64_t>(4 * (memory->seen.size() + memory->future.size()));
  sample->storage = memory;
  return sample;
}

std::vector<double> block_means(const std::vector<double>& values, const std::vector<double>& z_faces, int every,
                                std::size_t ny) {
  const std::size_t nz = z_faces.size() - 1, n = static_cast<std::size_t>(every), deep = ny > 0 ? n : 1,
                    lines = ny > 0 ? ny : 1, columns = values.size() / nz;
  std::vector<double> out(values.size() / (n * deep * n), 0.0);
  for (std::size_t column = 0; column < columns; ++column)
    for (std::size_t z = 0; z < nz; ++z) {
      const std::size_t x = column / lines / n, y = column % lines / deep;
      const double block = z_faces[(z / n + 1) * n] - z_faces[z / n * n];
      out[(x * (lines / deep) + y) * (nz / n) + z / n] +=
          values[column * nz + z] * (z_faces[z + 1] - z_faces[z]) / (block * static_cast<double>(n * deep));
    }
  return out;
}

}  // namespace cambium::superres
