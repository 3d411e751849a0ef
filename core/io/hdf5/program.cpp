// Opens HDF5 files, walks through their objects and reads from each: a process that may crash on a damaged file instead
// of the main program. HDF5 errors are ignored; the exit code is always 0.
#include <fcntl.h>
#include <hdf5.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <vector>

namespace {

constexpr double walk_seconds = 1.0;                       // per file; a larger one is read in part
constexpr rlim_t most_seconds = 4;                         // CPU time, after which the file counts as hanging
constexpr std::size_t most_bytes = std::size_t{16} << 20;  // of one read
constexpr std::size_t whole_bytes = std::size_t{8} << 20;  // files of fewer bytes are read from end to end

using Clock = std::chrono::steady_clock;

struct Walk {
  Clock::time_point begun = Clock::now();
  bool whole = false;
  bool late() const { return std::chrono::duration<double>(Clock::now() - begun).count() > walk_seconds; }
};

/// Values of a selection, in the type of the file.
void read_values(hid_t set, hid_t type, hid_t memory, hid_t space, std::size_t points) {
  const std::size_t size = H5Tget_size(type);
  if (points == 0 || size == 0 || points > most_bytes / size) return;
  std::vector<char> values(points * size, '\0');
  if (H5Dread(set, type, memory, space, H5P_DEFAULT, values.data()) >= 0 &&
      (H5Tdetect_class(type, H5T_VLEN) > 0 || H5Tis_variable_str(type) > 0))
    H5Dvlen_reclaim(type, memory, H5P_DEFAULT, values.data());
}

/// True if the chunk of one value, which is read with it, is small.
bool is_small_chunk(hid_t set, std::size_t size) {
  const hid_t properties = H5Dget_create_plist(set);
  double bytes = static_cast<double>(size);
  if (properties >= 0 && H5Pget_layout(properties) == H5D_CHUNKED) {
    hsize_t extent[H5S_MAX_RANK];
    const int rank = H5Pget_chunk(properties, H5S_MAX_RANK, extent);
    for (int k = 0; k < rank; ++k) bytes *= static_cast<double>(extent[k]);
  }
  if (properties >= 0) H5Pclose(properties);
  return bytes <= static_cast<double>(most_bytes);
}

/// All of a small array of a small file, else its first and its last value.
void look_at_array(hid_t set, const Walk& walk) {
  const hid_t type = H5Dget_type(set), space = H5Dget_space(set);
  hsize_t extent[H5S_MAX_RANK];
  const int rank = space < 0 ? -1 : H5Sget_simple_extent_dims(space, extent, nullptr);
  const hssize_t points = space < 0 ? -1 : H5Sget_simple_extent_npoints(space);
  const std::size_t size = type < 0 ? 0 : H5Tget_size(type);
  if (type >= 0 && rank >= 0 && points > 0 && size > 0 && is_small_chunk(set, size)) {
    if (rank == 0 || (walk.whole && static_cast<double>(points) * static_cast<double>(size) <= double(most_bytes))) {
      const hid_t memory = H5Scopy(space);
      H5Sselect_all(memory);
      read_values(set, type, memory, H5S_ALL, static_cast<std::size_t>(points));
      H5Sclose(memory);
    } else {
      const hsize_t one = 1;
      const hid_t memory = H5Screate_simple(1, &one, nullptr);
      std::vector<hsize_t> at(rank, 0);
      for (int turn = 0; turn < 2; ++turn) {
        if (H5Sselect_elements(space, H5S_SELECT_SET, 1, at.data()) >= 0) read_values(set, type, memory, space, 1);
        for (int k = 0; k < rank; ++k) at[k] = extent[k] - 1;
      }
      H5Sclose(memory);
    }
  }
  if (space >= 0) H5Sclose(space);
  if (type >= 0) H5Tclose(type);
}

herr_t look_at_attribute(hid_t object, const char* name, const H5A_info_t*, void*) {
  const hid_t attribute = H5Aopen(object, name, H5P_DEFAULT);
  if (attribute < 0) return 0;
  const hid_t type = H5Aget_type(attribute), space = H5Aget_space(attribute);
  const hssize_t points = space < 0 ? 0 : H5Sget_simple_extent_npoints(space);
  const std::size_t size = type < 0 ? 0 : H5Tget_size(type);
  if (points > 0 && size > 0 && static_cast<std::size_t>(points) <= most_bytes / size) {
    std::vector<char> values(static_cast<std::size_t>(points) * size, '\0');
    if (H5Aread(attribute, type, values.data()) >= 0 &&
        (H5Tdetect_class(type, H5T_VLEN) > 0 || H5Tis_variable_str(type) > 0))
      H5Dvlen_reclaim(type, space, H5P_DEFAULT, values.data());
  }
  if (space >= 0) H5Sclose(space);
  if (type >= 0) H5Tclose(type);
  H5Aclose(attribute);
  return 0;
}

herr_t look_at_object(hid_t file, const char* name, const H5O_info_t*, void* data) {
  const Walk& walk = *static_cast<const Walk*>(data);
  const hid_t object = H5Oopen(file, name, H5P_DEFAULT);
  if (object >= 0) {
    hsize_t begin = 0;
    H5Aiterate2(object, H5_INDEX_NAME, H5_ITER_NATIVE, &begin, look_at_attribute, nullptr);
    if (H5Iget_type(object) == H5I_DATASET) look_at_array(object, walk);
    H5Oclose(object);
  }
  return walk.late() ? 1 : 0;
}

void look_at(const char* path) {
  struct stat status {};
  Walk walk;
  walk.whole = stat(path, &status) == 0 && static_cast<std::size_t>(status.st_size) <= whole_bytes;
  const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
#if H5_VERSION_GE(1, 12, 1) || (H5_VERSION_GE(1, 10, 7) && !H5_VERSION_GE(1, 11, 0))
  H5Pset_file_locking(access, false, true);
#endif
  const hid_t file = H5Fopen(path, H5F_ACC_RDONLY, access);
  if (file >= 0) {
#if H5_VERSION_GE(1, 12, 0)
    H5Ovisit1(
        file, H5_INDEX_NAME, H5_ITER_NATIVE,
        [](hid_t at, const char* name, const H5O_info1_t*, void* data) {
          return look_at_object(at, name, nullptr, data);
        },
        &walk);
#else
    H5Ovisit1(file, H5_INDEX_NAME, H5_ITER_NATIVE, look_at_object, &walk);
#endif
    H5Fclose(file);
  }
  H5Pclose(access);
}

}  // namespace

int main(int argc, char** argv) {
  const rlimit no_core{0, 0}, processor{most_seconds, most_seconds + 1};
  setrlimit(RLIMIT_CORE, &no_core);
  setrlimit(RLIMIT_CPU, &processor);
  const int nowhere = open("/dev/null", O_WRONLY);  // messages of the C library about a corrupted heap
  if (nowhere >= 0) dup2(nowhere, STDERR_FILENO);
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  for (int k = 1; k < argc; ++k) {
    std::puts("looks");
    std::fflush(stdout);
    look_at(argv[k]);
  }
  std::fflush(stdout);
  _exit(0);  // skips the library's exit handlers
}
