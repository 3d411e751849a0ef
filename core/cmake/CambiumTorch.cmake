# Torch is optional: networks written with it are built where LibTorch is found. CAMBIUM_TORCH is AUTO, ON (then it must be
# found) or OFF. Sets CAMBIUM_HAS_TORCH and CAMBIUM_TORCH_VERSION, which goes into the ABI tag.
set(CAMBIUM_TORCH AUTO CACHE STRING "Networks written with LibTorch: AUTO (where it is found), ON, OFF")
set_property(CACHE CAMBIUM_TORCH PROPERTY STRINGS AUTO ON OFF)
set(CAMBIUM_HAS_TORCH OFF)
set(CAMBIUM_TORCH_VERSION none)
if(CAMBIUM_TRAINING AND NOT CAMBIUM_TORCH STREQUAL "OFF")
  find_package(Torch QUIET)
  if(TORCH_FOUND)
    set(CAMBIUM_HAS_TORCH ON)
    set(CAMBIUM_TORCH_VERSION ${Torch_VERSION})
    message(STATUS "LibTorch ${Torch_VERSION}: networks written with it are built")
  elseif(CAMBIUM_TORCH STREQUAL "ON")
    message(FATAL_ERROR "CAMBIUM_TORCH is ON, but CMake did not find LibTorch (Debian package: libtorch-dev; elsewhere name "
      "its folder in CMAKE_PREFIX_PATH). With -DCAMBIUM_TORCH=OFF Cambium is built without networks written in Torch.")
  else()
    message(STATUS "No LibTorch: networks written with it (conv_net) are not built; training and simulation are complete "
      "otherwise")
  endif()
endif()
