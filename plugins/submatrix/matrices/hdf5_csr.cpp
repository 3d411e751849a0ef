#include "plugins/submatrix/matrices/hdf5_csr.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <limits>

#include "core/base/error.hpp"
#include "core/io/hdf5/h5.hpp"

namespace cambium::submatrix {

namespace {

template <class T>
std::vector<T> slice(const io::Group& group, const char* name, std::int64_t first, std::int64_t end) {
  std::vector<T> out(static_cast<std::size_t>(end - first));
  const std::int64_t start[] = {first};
  group.dataset(name).read_block(start, io::tensor_of(out));
  return out;
}

std::vector<std::int64_t> shape_in(const io::Group& group) {
  if (group.exists("shape")) return group.read<std::vector<std::int64_t>>("shape");
  if (group.has_attribute("shape")) return group.attribute<std::vector<std::int64_t>>("shape");
  return {};
}

/// Rows of the matrix, once lengths fit each other.
std::int64_t checked_rows(const io::Group& group, const std::string& path) {
  for (const char* name : {"data", "indices", "indptr"})
    if (!group.exists(name))
      throw InputError(
          fmt::format("{} has no data set '{}'; a CSR matrix of SciPy has data, indices and indptr, in the file or in "
                      "a group that the name specifies (file.h5:/group)",
                      path, name));
  const auto rows = group.dataset("indptr").elements() - 1, elements = group.dataset("data").elements();
  if (rows < 1 || rows >= std::numeric_limits<int>::max() || group.dataset("indices").elements() != elements ||
      (group.exists("imaginary") && group.dataset("imaginary").elements() != elements))
    throw InputError(fmt::format("{}: indptr has {} entries, indices {}, data {}; they are no CSR matrix", path,
                                 rows + 1, group.dataset("indices").elements(), elements));
  if (const auto shape = shape_in(group); !shape.empty() && (shape.size() != 2 || shape[0] != rows || shape[1] != rows))
    throw InputError(
        fmt::format("{}: shape has {} values that begin with {}, but indptr has {} rows; the matrix must be square",
                    path, shape.size(), shape[0], rows));
  return rows;
}

void read_rows(const io::Group& group, std::int64_t first, std::int64_t end, StoredElements& out) {
  const auto starts = slice<std::int64_t>(group, "indptr", first, end + 1);
  const auto elements = group.dataset("data").elements();
  if ((first == 0 && starts.front() != 0) || (end == out.rows && starts.back() != elements))
    throw InputError(fmt::format("{}: indptr goes from {} to {}, but there are {} elements; was the file truncated?",
                                 out.path, starts.front(), starts.back(), elements));
  for (std::size_t r = 0; r + 1 < starts.size(); ++r)
    if (starts[r] < 0 || starts[r] > starts[r + 1] || starts[r + 1] > elements)
      throw InputError(fmt::format("{}: indptr goes from {} to {} in row {}; it must not decrease, nor exceed the data",
                                   out.path, starts[r], starts[r + 1], first + static_cast<std::int64_t>(r)));
  const auto columns = slice<std::int64_t>(group, "indices", starts.front(), starts.back());
  const auto real = slice<double>(group, "data", starts.front(), starts.back());
  const auto imaginary =
      out.complex ? slice<double>(group, "imaginary", starts.front(), starts.back()) : std::vector<double>();
  for (std::size_t r = 0; r + 1 < starts.size(); ++r)
    for (auto e = static_cast<std::size_t>(starts[r] - starts[0]);
         e < static_cast<std::size_t>(starts[r + 1] - starts[0]); ++e) {
      if (columns[e] < 0 || columns[e] >= out.rows)
        throw InputError(fmt::format("{}: row {} has column {}, expected 0 to {}", out.path,
                                     first + static_cast<std::int64_t>(r), columns[e], out.rows - 1));
      out.entries.push_back({{0, 0, 0},
                             static_cast<int>(first) + static_cast<int>(r),
                             static_cast<int>(columns[e]),
                             real[e],
                             out.complex ? imaginary[e] : 0.0});
    }
}

}  // namespace

bool is_hdf5(std::string_view bytes) { return bytes.starts_with("\x89HDF\r\n\x1a\n"); }

std::pair<std::string, std::string> split_group(const std::string& path) {
  const auto colon = path.rfind(":/");
  if (colon == std::string::npos || std::filesystem::exists(path) || !std::filesystem::exists(path.substr(0, colon)))
    return {path, ""};
  return {path.substr(0, colon), path.substr(colon + 1)};
}

StoredElements read_hdf5_csr(const std::string& path, const FileRanks& ranks) {
  StoredElements out{path, 0, {}, Triangle::as_found, true};
  ranks.agree([&] {
    const auto [name, group] = split_group(path);
    const io::File file = io::File::open(name);
    const io::Group matrix = group.empty() ? static_cast<const io::Group&>(file) : file.group(group);
    out.rows = static_cast<int>(checked_rows(matrix, path));
    out.complex = matrix.exists("imaginary");
    read_rows(matrix, ranks.first(out.rows, ranks.rank()), ranks.first(out.rows, ranks.rank() + 1), out);
  });
  return out;
}

}  // namespace cambium::submatrix
