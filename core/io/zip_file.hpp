#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace cambium::io {

/// Members of a zip archive, stored or deflated, of any size (ZIP64); each is compared with its CRC-32. The file is
/// mapped, so only the parts that are read are loaded into memory. Format: PKWARE's APPNOTE 6.3.
class ZipFile {
 public:
  /// The program whose archives are expected, for messages: "a MACE model is the file that PyTorch writes".
  struct Origin {
    std::string what, writer;
  };
  /// InputError if the file cannot be read, is not a zip archive, or ends before its directory.
  ZipFile(const std::string& path, const Origin& origin);
  ~ZipFile();
  ZipFile(const ZipFile&) = delete;
  ZipFile& operator=(const ZipFile&) = delete;

  const std::string& path() const { return path_; }
  std::vector<std::string> names() const;
  bool has(const std::string& name) const { return members_.count(name) > 0; }
  /// The bytes of a member, valid while this object lives. InputError when it is missing or damaged, or compressed by
  /// another method than deflate, or at all in a build without zlib.
  std::string_view read(const std::string& name) const;

 private:
  struct Member {
    std::uint64_t offset = 0, packed = 0, size = 0;
    std::uint32_t checksum = 0;
    std::uint16_t method = 0;
  };
  std::uint64_t number(std::uint64_t at, int bytes) const;
  void map_file();
  void read_directory();
  std::uint64_t read_entry(std::uint64_t entry);
  std::string_view inflated(std::string_view packed, const std::string& name, std::uint64_t size) const;

  std::string path_;
  Origin origin_;
  std::string_view bytes_;
  std::map<std::string, Member> members_;
  mutable std::map<std::string, std::string> inflated_;
};

}  // namespace cambium::io
