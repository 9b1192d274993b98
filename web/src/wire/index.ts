// Made from the Rust code, and held against it by a test of ralph_server: see CONTRIBUTING.md. Do not edit.
export * from './agent';
export * from './run';
export * from './stream';
