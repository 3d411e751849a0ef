#pragma once
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "core/io/hdf5/h5_internal.hpp"

/// Shared by the h5_*.cpp files only.
namespace cambium::io::detail {

/// A copy of a file, object by object, in which some data sets are stored in another way. Everything else is preserved:
/// links of every kind, attributes, creation order if the file tracks it, dimension scales, and references to objects
/// of the file. Unlinked objects are not copied.
class FileCopy {
 public:
  /// Creates the data set in the copy, with its values; false: copy it as it is. The identifiers are those of the two
  /// files.
  using Recode = std::function<bool(const Dataset& from, Group& to, hid_t from_file, hid_t to_file)>;
  /// Messages name the copy `shown`.
  FileCopy(const std::string& from, const std::string& to, const std::string& shown, Recode recode);
  void run();

 private:
  /// A file that exposes its identifier.
  struct Opened : File {
    Opened(File file) : File(std::move(file)) {}
    hid_t id() const { return handle_.id(); }
    /// A data set that is copied as it is stored, so that its filters need not be here.
    Dataset stored(const std::string& path) const { return Group::opened(path, true); }
  };
  /// A link: its name and character set.
  struct Link {
    std::string name;
    H5L_type_t type = H5L_TYPE_HARD;
    H5T_cset_t characters = H5T_CSET_ASCII;
    std::size_t bytes = 0;  ///< length of the link value, unless it is a hard link
  };

  // h5_copy.cpp
  std::vector<Link> links_of(const std::string& group) const;
  void copy_group(const std::string& group);
  void copy_link(const std::string& path, const Link& link);
  void copy_object(const std::string& path, const Handle& link_properties);
  void copy_data_set(const std::string& path, const Handle& link_properties);
  void gather_data_set(const std::string& path, const Handle& link_properties);
  void copy_attributes(const std::string& path);
  bool copy_attribute(const std::string& path, const Handle& from, const Handle& to, const std::string& name);

  // h5_references.cpp
  void mend_references();
  void mend_scales(const std::string& path);
  void list_uses(const std::string& scale);
  void mend_attribute(const std::string& path, const std::string& name);
  void mend_data_set(const std::string& path);
  std::vector<char> translated(hid_t object, const Handle& type, const std::vector<char>& old) const;

  hid_t root() const { return from_.id(); }
  hid_t new_root() const { return to_.id(); }
  Handle opened(const std::string& path) const;
  Handle opened_copy(const std::string& path) const;

  Opened from_, to_;
  Recode recode_;
  std::map<haddr_t, std::string> copied_;  ///< first path of objects that have several
  std::vector<std::string> scaled_, referring_;
  std::vector<std::pair<std::string, std::string>> referring_attributes_;  ///< path, name
  std::map<std::string, std::vector<std::pair<std::string, int>>> uses_;   ///< of a scale: array and dimension
};

/// True if values are references to objects, or to parts of data sets, of a file.
bool holds_references(const Handle& type);

}  // namespace cambium::io::detail
