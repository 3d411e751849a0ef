#pragma once
// Archives as PyTorch writes them: a pickle of modules and stored tensors in a zip file.
#include <bit>
#include <cstdint>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

namespace cambium::test {

inline std::string little(std::uint64_t value, int bytes) {
  std::string out;
  for (int k = 0; k < bytes; ++k) out.push_back(static_cast<char>(value >> 8 * k));
  return out;
}

/// Members under "archive/", without compression.
class ZipWriter {
 public:
  void add(const std::string& name, const std::string& bytes) { members_.emplace_back("archive/" + name, bytes); }
  std::string bytes() const {
    std::string out, directory;
    for (const auto& [name, data] : members_) {
      const std::string fields = little(0, 2) + little(0, 4) + little(checksum(data), 4) + little(data.size(), 4) +
                                 little(data.size(), 4) + little(name.size(), 2) + little(0, 2);
      directory += "PK\x01\x02" + little(20, 2) + little(20, 2) + little(0, 2) + fields + little(0, 10) +
                   little(out.size(), 4) + name;
      out += "PK\x03\x04" + little(20, 2) + little(0, 2) + fields + name + data;
    }
    const std::uint64_t start = out.size();
    return out + directory + "PK\x05\x06" + little(0, 4) + little(members_.size(), 2) + little(members_.size(), 2) +
           little(directory.size(), 4) + little(start, 4) + little(0, 2);
  }
  void write(const std::string& path) const { std::ofstream(path, std::ios::binary) << bytes(); }

 private:
  static std::uint32_t checksum(const std::string& data) {
    std::uint32_t c = ~0u;
    for (const char byte : data) {
      c ^= static_cast<unsigned char>(byte);
      for (int bit = 0; bit < 8; ++bit) c = c & 1u ? 0xedb88320u ^ (c >> 1) : c >> 1;
    }
    return ~c;
  }
  std::vector<std::pair<std::string, std::string>> members_;
};

/// Values of a pickle of protocol 2, as the bytes that make them; tensors go into the archive, too.
class PickleWriter {
 public:
  using Members = std::vector<std::pair<std::string, std::string>>;
  explicit PickleWriter(std::string storage = "DoubleStorage") : storage_(std::move(storage)) {}

  static std::string text(const std::string& s) { return "X" + little(s.size(), 4) + s; }
  static std::string integer(std::int64_t value) { return "J" + little(static_cast<std::uint64_t>(value), 4); }
  static std::string boolean(bool value) { return value ? "\x88" : "\x89"; }
  static std::string real(double value) {
    const auto bits = std::bit_cast<std::uint64_t>(value);
    std::string out = "G";
    for (int k = 8; k-- > 0;) out.push_back(static_cast<char>(bits >> 8 * k));
    return out;
  }
  static std::string tuple(const std::vector<std::string>& items) {
    std::string out = "(";
    for (const auto& item : items) out += item;
    return out + "t";
  }
  /// Blocks (channels, degree) of features; the parity is that of the degree.
  static std::string irreps(const std::vector<std::pair<int, int>>& blocks) {
    std::vector<std::string> items;
    for (const auto& [mul, l] : blocks)
      items.push_back(tuple({integer(mul), tuple({integer(l), integer(l % 2 ? -1 : 1)})}));
    return tuple(items);
  }
  static std::string module(const std::string& name, const Members& members) {
    std::string out = "c__torch__.mace.modules.blocks\n" + name + "\n)\x81}(";
    for (const auto& [key, value] : members) out += text(key) + value;
    return out + "ub";
  }
  std::string tensor(const std::vector<std::int64_t>& shape, const std::vector<double>& values) {
    const std::string key = std::to_string(tensors_++);
    std::string bytes;
    for (const double value : values) bytes += little(std::bit_cast<std::uint64_t>(value), 8);
    zip.add("data/" + key, bytes);
    std::vector<std::string> sizes, strides(shape.size());
    std::int64_t stride = 1;
    for (std::size_t d = shape.size(); d-- > 0; stride *= shape[d]) strides[d] = integer(stride);
    for (const std::int64_t size : shape) sizes.push_back(integer(size));
    const std::string id = tuple({text("storage"), "ctorch\n" + storage_ + "\n", text(key), text("cpu"),
                                  integer(static_cast<std::int64_t>(values.size()))});
    return "ctorch._utils\n_rebuild_tensor_v2\n" +
           tuple(
               {id + "Q", integer(0), tuple(sizes), tuple(strides), boolean(false), "ccollections\nOrderedDict\n)R"}) +
           "R";
  }
  std::string number(double value) { return tensor({}, {value}); }
  void write(const std::string& path, const std::string& root) {
    zip.add("data.pkl", "\x80\x02" + root + ".");
    zip.write(path);
  }

  ZipWriter zip;

 private:
  std::string storage_;
  int tensors_ = 0;
};

}  // namespace cambium::test
