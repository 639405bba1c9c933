TORCH_LIBRARY_EXPAND(TORCH_EXTENSION_NAME, m) {
  m.def("route(Tensor x) -> Tensor");
}
