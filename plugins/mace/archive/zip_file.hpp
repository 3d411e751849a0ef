#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace cambium::mace {

/// Members of a zip archive, read whole into memory. PyTorch stores tensors without compression, so that only stored
/// members can be read; each is compared with its CRC-32.
class ZipFile {
 public:
  /// InputError when the file cannot be read, is no zip archive, or ends before its directory.
  explicit ZipFile(const std::string& path);

  const std::string& path() const { return path_; }
  /// True if a member `name` is there; names are given without the archive's first folder.
  bool has(const std::string& name) const { return members_.count(name) > 0; }
  /// The bytes of a member, valid while this object lives. InputError when it is missing, compressed or damaged.
  std::string_view read(const std::string& name) const;

 private:
  struct Member {
    std::uint64_t offset = 0, size = 0;
    std::uint32_t checksum = 0;
    std::uint16_t method = 0;
  };
  std::uint64_t number(std::uint64_t at, int bytes) const;
  void read_directory();

  std::string path_, bytes_;
  std::map<std::string, Member> members_;
};

}  // namespace cambium::mace
