#include "plugins/graph/transport/shown_nodes.hpp"

#include <algorithm>

#include "core/base/counts.hpp"
#include "core/io/gather.hpp"
#include "core/io/hdf5/h5.hpp"
#include "plugins/graph/graphs/bytes.hpp"

namespace cambium::graph {

namespace {

/// Gathers rows of all ranks on rank 0, in rank order.
template <class T>
std::vector<T> rows_on_root(const T* first, std::int64_t rows, std::int64_t width, const Comm& comm) {
  std::vector<T> out;
  io::gather_rows(comm, io::tensor_of(first, {rows, width}), [&](std::int64_t, const TensorRef& piece) {
    const auto* values = static_cast<const T*>(piece.data);
    out.insert(out.end(), values, values + piece.elements());
  });
  return out;
}

template <class T>
std::vector<T> rows_on_root(const std::vector<T>& own, std::int64_t width, const Comm& comm) {
  return rows_on_root(own.data(), std::ssize(own) / width, width, comm);
}

}  // namespace

std::int64_t ShownNodes::bytes() const { return bytes_in(place, number, connectivity, cell, weight) + names.bytes(); }

ShownNodes shown_of(const Network& network, std::span<const std::int32_t> own) {
  ShownNodes out;
  out.names = network.names;
  std::int32_t cell = 0;  // index among the edges of all nodes so far
  auto next = own.begin();
  for (std::int32_t i = 0; i < network.weight.rows && next != own.end(); ++i) {
    const auto columns = network.weight.columns_of(i);
    const auto first = static_cast<std::size_t>(std::lower_bound(columns.begin(), columns.end(), i) - columns.begin());
    if (*next != i) {
      cell += static_cast<std::int32_t>(columns.size() - first);
      continue;
    }
    ++next;
    out.place.push_back(network.place[at(i)]);
    out.number.push_back(network.number[at(i)]);
    for (std::size_t e = first; e < columns.size(); ++e) {
      out.connectivity.insert(out.connectivity.end(), {network.number[at(i)], network.number[at(columns[e])]});
      out.weight.push_back(network.weight.values_of(i)[e]);
      out.cell.push_back(cell++);
    }
  }
  return out;
}

ShownNodes shown_of(const Triangles& mesh, std::span<const std::int32_t> own) {
  ShownNodes out;
  out.corners = 3;
  std::vector<char> owned(mesh.point.size(), 0);
  for (const auto i : own) {
    owned[at(i)] = 1;
    out.place.push_back({mesh.point[at(i)][0], mesh.point[at(i)][1], 0.0});
    out.number.push_back(mesh.number[at(i)]);
  }
  for (std::size_t t = 0; t < mesh.corner.size(); ++t) {
    const auto& corner = mesh.corner[t];
    if (!owned[at(*std::min_element(corner.begin(), corner.end()))]) continue;
    out.cell.push_back(static_cast<std::int32_t>(t));
    for (const auto i : corner) out.connectivity.push_back(mesh.number[at(i)]);
  }
  return out;
}

AllShown on_root(const ShownNodes& own, const NodeRange& range) {
  const Comm& comm = range.comm();
  const auto number = rows_on_root(own.number, 1, comm);
  const auto place =
      rows_on_root(own.place.empty() ? nullptr : own.place.front().data(), std::ssize(own.place), 3, comm);
  const auto corners = rows_on_root(own.connectivity, own.corners, comm);
  const auto cell = rows_on_root(own.cell, 1, comm);
  const auto weight = rows_on_root(own.weight, 1, comm);
  AllShown out{nullptr, std::vector<double>(weight.size()), own.names};
  if (!comm.root()) return out;
  for (std::size_t k = 0; k < weight.size(); ++k) out.weight[at(cell[k])] = weight[k];
  auto cells = std::make_shared<NodeCells>();
  cells->corners = own.corners;
  cells->points.resize(number.size());
  for (std::size_t k = 0; k < number.size(); ++k) std::copy_n(&place[3 * k], 3, cells->points[at(number[k])].begin());
  const auto width = at(own.corners);
  cells->connectivity.resize(corners.size());
  for (std::size_t k = 0; k < corners.size() / width; ++k)
    std::copy_n(&corners[k * width], width, &cells->connectivity[at(cell[k]) * width]);
  out.cells = std::move(cells);
  return out;
}

std::vector<double> on_root(const ShownNodes& own, const NodeRange& range, const double* values, std::int64_t stride) {
  const Comm& comm = range.comm();
  const auto number = rows_on_root(own.number, 1, comm);
  std::vector<double> out(number.size());
  TensorRef column;
  column.data = const_cast<double*>(values);
  column.rank = 1;
  column.dtype = DType::f64;
  column.shape[0] = range.owned();
  column.stride[0] = stride;
  io::gather_rows(comm, column, [&](std::int64_t first, const TensorRef& piece) {
    const auto* from = static_cast<const double*>(piece.data);
    for (std::int64_t i = 0; i < piece.shape[0]; ++i) out[at(number[at(first + i)])] = from[i];
  });
  return out;
}

Trajectory whole_of(const ShownNodes& all) {
  Trajectory out;
  out.place.resize(3 * all.place.size());
  for (std::size_t k = 0; k < all.place.size(); ++k)
    std::copy_n(all.place[k].begin(), 3, &out.place[3 * at(all.number[k])]);
  out.boundary.assign(all.place.size(), 0);
  if (all.corners == 3)
    join_triangles(all.connectivity, out);
  else
    join_edges(all.connectivity, all.weight, out);
  return out;
}

}  // namespace cambium::graph
