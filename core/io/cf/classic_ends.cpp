#include "core/io/cf/classic_ends.hpp"

#include <algorithm>
#include <array>
#include <fstream>
#include <numeric>

namespace cambium::io::cf {

namespace {

/// Bytes of the types NC_BYTE to NC_UINT64, numbered from 1.
constexpr std::array<std::int64_t, 12> size_of_type{0, 1, 1, 2, 4, 4, 8, 1, 2, 4, 8, 8};

std::int64_t padded(std::int64_t bytes) { return (bytes + 3) / 4 * 4; }

struct ClassicExtent {
  std::int64_t begin = 0, size = 0;  ///< size: of all of it, or of one record
  bool record = false;
};

/// Walks along a header; after its end, or a length that cannot be, good() is false.
class ClassicHeader {
 public:
  explicit ClassicHeader(const std::string& path) : in_(path, std::ios::binary) {
    std::array<char, 4> magic{};
    in_.read(magic.data(), 4);
    version_ = magic[3];
    records_ = count();
    open_ended_ = records_ == (version_ == 5 ? -1 : 0xFFFFFFFFLL);
    read_dimensions();
    skip_attributes();
    read_variables();
  }

  bool good() const { return in_.good(); }
  std::vector<std::int64_t> ends() const {
    const auto add = [](std::int64_t sum, const ClassicExtent& v) { return v.record ? sum + padded(v.size) : sum; };
    std::int64_t stride = std::accumulate(variables_.begin(), variables_.end(), std::int64_t{0}, add);
    // A single record variable is not padded.
    if (std::count_if(variables_.begin(), variables_.end(), [](const auto& v) { return v.record; }) == 1)
      for (const auto& v : variables_)
        if (v.record) stride = v.size;
    std::vector<std::int64_t> out;
    for (const auto& v : variables_) {
      const std::int64_t times = !v.record ? 1 : open_ended_ ? 1 : records_;
      out.push_back(times > 0 ? v.begin + (times - 1) * stride + v.size : 0);
    }
    return out;
  }

 private:
  std::int64_t number(int bytes) {
    std::uint64_t out = 0;
    for (int k = 0; k < bytes; ++k) out = out << 8 | static_cast<unsigned char>(in_.get());
    return static_cast<std::int64_t>(out);
  }
  std::int64_t count() { return number(version_ == 5 ? 8 : 4); }
  std::int64_t offset() { return number(version_ == 1 ? 4 : 8); }
  void skip(std::int64_t bytes) {
    if (bytes < 0 || bytes > (std::int64_t{1} << 40))
      in_.setstate(std::ios::failbit);
    else
      in_.ignore(padded(bytes));
  }
  std::int64_t length_of_list() {
    number(4);  // tag of the list, or 0
    return count();
  }

  void read_dimensions() {
    const auto n = length_of_list();
    for (std::int64_t k = 0; k < n && good(); ++k) {
      skip(count());
      dimensions_.push_back(count());
    }
  }
  void skip_attributes() {
    const auto n = length_of_list();
    for (std::int64_t k = 0; k < n && good(); ++k) {
      skip(count());
      const auto type = static_cast<std::size_t>(number(4));
      skip(count() * size_of_type[type < size_of_type.size() ? type : 0]);
    }
  }
  void read_variables() {
    const auto n = length_of_list();
    for (std::int64_t k = 0; k < n && good(); ++k) {
      ClassicExtent v;
      skip(count());
      v.size = 1;
      const auto rank = count();
      for (std::int64_t d = 0; d < rank && good(); ++d) {
        const auto id = static_cast<std::size_t>(count());
        const std::int64_t length = id < dimensions_.size() ? dimensions_[id] : 0;
        v.record = v.record || (d == 0 && length == 0);
        if (d > 0 || length > 0) v.size *= length;
      }
      skip_attributes();
      const auto type = static_cast<std::size_t>(number(4));
      v.size *= size_of_type[type < size_of_type.size() ? type : 0];
      count();  // the size of a variable, which is clipped for large ones
      v.begin = offset();
      variables_.push_back(v);
    }
  }

  std::ifstream in_;
  int version_ = 1;
  std::int64_t records_ = 0;
  bool open_ended_ = false;
  std::vector<std::int64_t> dimensions_;
  std::vector<ClassicExtent> variables_;
};

}  // namespace

std::vector<std::int64_t> classic_ends(const std::string& path) {
  const ClassicHeader header(path);
  return header.good() ? header.ends() : std::vector<std::int64_t>{};
}

}  // namespace cambium::io::cf
