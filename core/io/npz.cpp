#include "core/io/npz.hpp"

#include <fmt/format.h>

#include <sstream>

#include "core/base/error.hpp"

namespace cambium::io {

namespace {
constexpr std::string_view suffix = ".npy";
}

bool is_npz(const std::string& path) { return path.ends_with(".npz"); }

Npz::Npz(const std::string& path, const std::string& what) : zip_(path, {what, "numpy.savez"}) {
  for (const auto& member : zip_.names())
    names_[member.ends_with(suffix) ? member.substr(0, member.size() - suffix.size()) : member] = member;
}

std::vector<std::string> Npz::names() const {
  std::vector<std::string> out;
  for (const auto& [name, member] : names_) out.push_back(name);
  return out;
}

NpyArray Npz::read(const std::string& name) const {
  const auto found = names_.find(name);
  const auto full = fmt::format("{}: {}", file(), name);
  if (found == names_.end()) throw InputError(full + " is missing");
  std::istringstream in(std::string(zip_.read(found->second)), std::ios::binary);
  return read_npy(in, full);
}

}  // namespace cambium::io
