#include "plugins/pretrain/search/index_file.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/error.hpp"
#include "core/io/hdf5/labels.hpp"

namespace cambium::pretrain {

namespace {

void write_rows(io::File& file, const std::string& name, const FloatRows& rows, const std::string& meaning) {
  TensorRef values = io::tensor_of(rows.values.data(), {rows.rows, rows.columns});
  values.stride[0] = rows.stride;
  io::labelled(file.write(name, values), "", meaning);
}

FloatRows read_rows(const io::File& file, const std::string& name) {
  const auto data = file.dataset(name);
  const auto shape = data.shape();
  if (shape.size() != 2 || shape[0] < 1 || shape[1] < 1)
    throw InputError(fmt::format("'{}': {} is no table of rows; make the index again", file.file(), name));
  FloatRows out(shape[0], shape[1]);
  const auto values = data.read<std::vector<float>>();
  for (std::int64_t k = 0; k < out.rows; ++k) std::copy_n(values.data() + k * out.columns, out.columns, out.row(k));
  return out;
}

/// True if every position in a list is a row, and every row has one.
bool belong_together(const InvertedLists::Parts& parts) {
  const auto lists = static_cast<std::size_t>(parts.centres.rows);
  if (parts.centres.columns != parts.rows.columns || parts.start.size() != lists + 1 || parts.unit.size() != lists)
    return false;
  if (parts.start.front() != 0 || parts.start.back() != std::ssize(parts.number)) return false;
  for (std::size_t l = 0; l < lists; ++l)
    if (parts.start[l] > parts.start[l + 1] || parts.start[l] % ByteRows::block_rows != 0) return false;
  std::vector<bool> there(parts.rows.rows, false);
  for (const auto n : parts.number)
    if (n >= parts.rows.rows)
      return false;
    else if (n >= 0)
      there[n] = true;
  return std::all_of(there.begin(), there.end(), [](bool t) { return t; });
}

}  // namespace

void write_index(io::File& file, const StatedIndex& index) {
  const auto& parts = index.lists.parts();
  const auto& stated = index.stated;
  write_rows(file, "rows", parts.rows, "unit vectors");
  write_rows(file, "centres", parts.centres, "of the lists");
  io::labelled(file.write("start", parts.start), "", "first position of each list, and the end");
  io::labelled(file.write("number", parts.number), "", "row at each position, -1 for none");
  io::labelled(file.write("unit", parts.unit), "", "of the bytes of each list");
  const auto bytes = parts.bytes.values();
  io::labelled(file.write("bytes", io::tensor_of(bytes)), "",
               "rows minus their centres, plus 128, in blocks of 16 rows and groups of 4 columns");
  if (!index.marks.simulation.empty()) file.write("simulation", index.marks.simulation);
  if (!index.marks.moment.empty()) file.write("moment", index.marks.moment);
  if (!index.marks.time.empty()) file.write("time", index.marks.time);
  file.set_attribute("probes", stated.effort.probes);
  file.set_attribute("kept", stated.effort.kept);
  file.set_attribute("wanted", stated.wanted);
  file.set_attribute("recall", stated.recall);
  file.set_attribute("compared", stated.compared);
  file.set_attribute("count", stated.count);
  file.set_attribute("queries", stated.queries);
  if (!index.model.empty()) file.set_attribute("model", index.model);
}

StatedIndex read_index(const std::string& path) {
  const auto file = io::File::open(path);
  if (!file.exists("bytes") || !file.has_attribute("probes"))
    throw InputError(fmt::format("'{}' holds no index; name the index.h5 that a stage retrieve wrote", path));
  InvertedLists::Parts parts;
  parts.rows = read_rows(file, "rows");
  parts.centres = read_rows(file, "centres");
  parts.start = file.read<std::vector<std::int64_t>>("start");
  parts.number = file.read<std::vector<std::int64_t>>("number");
  parts.unit = file.read<std::vector<float>>("unit");
  const auto bytes = file.read<std::vector<std::uint8_t>>("bytes");
  const std::int64_t groups = (parts.rows.columns + 3) / 4;
  if (!belong_together(parts) || std::ssize(bytes) != std::ssize(parts.number) * groups * 4)
    throw InputError(fmt::format("'{}': the arrays of this index do not belong together; make it again", path));
  parts.bytes = ByteRows(std::ssize(parts.number), parts.rows.columns, bytes);
  StatedRecall stated;
  const auto number = [&](const char* name) { return file.attribute<std::int64_t>(name); };
  stated.effort = {std::max<std::int64_t>(1, number("probes")), std::max<std::int64_t>(1, number("kept"))};
  stated.wanted = file.attribute<double>("wanted");
  stated.recall = file.attribute<double>("recall");
  stated.compared = file.attribute<double>("compared");
  stated.count = number("count");
  stated.queries = number("queries");
  EntryMarks marks;
  const auto rows = parts.rows.rows;
  const auto read_mark = [&](const char* name, auto& to) {
    if (file.exists(name)) to = file.read<std::decay_t<decltype(to)>>(name);
    if (!to.empty() && std::ssize(to) != rows)
      throw InputError(
          fmt::format("'{}': {} has {} values for {} rows; make the index again", path, name, to.size(), rows));
  };
  read_mark("simulation", marks.simulation);
  read_mark("moment", marks.moment);
  read_mark("time", marks.time);
  return {InvertedLists(std::move(parts)), stated, marks,
          file.has_attribute("model") ? file.attribute<std::string>("model") : std::string()};
}

}  // namespace cambium::pretrain
